"""The core links nothing of CUDA's: linked.py LIBRARY COMMAND. The names of libraries that a file needs stand in it."""
import sys

wrong = []
for path in sys.argv[1:]:
    with open(path, 'rb') as file:
        content = file.read()
    if b'libc.so' not in content:
        wrong.append('%s: names no library at all: what was looked at is no program' % path)
    wrong += ['%s names %s' % (path, name.decode()) for name in (b'libcudart', b'libcudnn', b'libcublas', b'libcuda.so', b'libcupti')
              if name in content]
print('\n'.join(wrong) or '%d files link nothing of CUDA' % len(sys.argv[1:]))
sys.exit(1 if wrong else 0)
