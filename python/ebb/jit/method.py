"""Methods that are traced."""


class Bound:
    """A traced method of an object; what can be asked of the trace can be asked of it."""

    def __init__(self, function, instance):
        self.__func__, self.__self__ = function, instance

    def __call__(self, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)

    def fit(self, arguments, *args, **kwargs):
        return self.__func__.fit(lambda n: (self.__self__, *arguments(n)), *args, **kwargs)

    def __getattr__(self, name):
        if name in ("__func__", "__self__"):  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.__func__, name)
