"""hub.pretrained: marks functions that make networks; weights are not downloaded."""

import functools

__all__ = ["pretrained"]


def pretrained(url):
    """The function gets a keyword, pretrained, of which only False can be had."""

    def decorator(function):
        @functools.wraps(function)
        def made(*args, pretrained=False, **kwargs):
            if pretrained:
                raise RuntimeError(f"{function.__name__}: download {url} yourself, then load_state_dict")
            return function(*args, **kwargs)

        return made

    return decorator
