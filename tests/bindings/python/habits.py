# SPDX-License-Identifier: LGPL-2.1-or-later
"""Common uses of arrays, by kind: expressions, and statements after which all names are looked at.
x is 3 × 4 float64, y another such, i int64, u uint8, f float32, c complex128, m a mask, r a row, s
without dimensions, o a place for results, q square, k three indices, and e empty."""

OPERATORS = """
x + 1
1 + x
x - y
2 - x
x * 2.5
2j * x
x / y
1 / y
x // 2
7 // y
x % 2
7 % y
x ** 2
2 ** x
-x
+x
abs(x)
x @ y.T
x.T @ y
x @ r
[1, 2, 3] @ x
r @ r
x < 3
3 < x
x <= y
x > y
x >= 2
x == y
x == 3
3 == x
x != y
x != 3
x == None
x != None
x == 'text'
x == [1, 2]
x == (0, 1, 2, 3)
x == r
i & 3
3 & i
i | 8
i ^ i
~i
~m
i << 1
1 << i
i >> 1
m & m
m | ~m
m ^ True
-m
divmod(x, 2)
divmod(7, y)
divmod(i, 3)
round(s)
round(x[0, 1], 1)
pow(x, 2)
pow(2, x)
pow(i, 2)
x + [1, 2, 3, 4]
[1, 2, 3, 4] + x
(1, 2, 3, 4) * x
x + np.float32(1)
np.float32(1) + x
np.int8(3) * u
u + 1
u + u
u - 1
u * u
f + 1
f + 1.5
f * f.astype('float64')
c * 2
c.conj() * c
s + 1
s * x
x + s
e + 1
s == 2
x + np.ones(4)
np.ones(4) + x
np.ones((3, 4)) @ y.T
x - np.ma.masked_equal(np.ones(4), 1)
x + None
x + 'a'
x @ 3
x << 1
x + np.ones(5)
np.ones(5) * x
not s
not e.size
bool(s)
bool(x)
int(s)
float(s)
complex(s)
complex(c[0, 0])
int(x)
float(x)
complex(x)
math.sqrt(s)
math.floor(s)
math.isclose(s, 2.0)
range(5)[k[1]]
operator.index(x)
operator.index(i)
[1, 2, 3][s]
hex(k[0])
round(float(s), 1)
f'{s:.3f}'
f'{x:.2f}'
'{:5.1f}'.format(s)
'%.2f' % s
'%d' % s
(x > 1).any() and (x < 9).all()
x[0] < x[1]
x.T + y.T
x[::-1] - x
x[:, ::2] * 2
x[..., None] * r
sum(x)
"""

IN_PLACE = """
x += 1
x -= y
x *= 2
x /= y
x //= 2
x %= 3
x **= 2
i &= 3
i |= 4
i ^= 1
i <<= 2
i >>= 1
m &= False
m |= m
m ^= True
q @= q
u += 1
u += u
u += 300
u += 1.5
i /= 2
i += 0.5
f += 1
f += x
c += 1j
x += c
x += r
x += [1, 2, 3, 4]
x += np.ones(5)
x[0] += 1
x[:, 1] *= 3
x[::-1] += x
x.T[0] -= 1
x[1, 2] += 5
x[m] += 1
x[m] *= -1
x[[0, 2]] += 10
x[[0, 0]] += 1
s += 1
e += 1
np.sin(x, out=x)
np.add(x, y, out=o)
np.add(x, y, o)
np.add(x, 1, out=(o,))
np.divmod(x, 2, out=(o, y))
np.multiply(x, 2, out=x[:, :])
np.add(x, 1, where=m, out=o)
np.add(i, 1, out=u)
np.add(i, 1, out=u, casting='unsafe')
np.add.at(r, [0, 0, 1], 1)
np.add.at(r, k, 1)
np.subtract.at(x, ([0, 1], [1, 1]), 5)
np.negative.at(r, [0])
np.copyto(x, y)
np.copyto(x, 5)
np.copyto(x, r, where=m)
np.copyto(o, i)
np.copyto(u, x)
np.copyto(u, x, casting='unsafe')
np.put(x, [0, 5], [1, 2])
np.place(x, m, [7, 8])
np.putmask(x, m, y)
np.put_along_axis(x, k[:, None], 9, axis=1)
np.fill_diagonal(q, 9)
np.sum(x, axis=0, out=r)
np.mean(x, axis=0, out=r)
np.max(x, 0, r)
np.cumsum(x, axis=1, out=o)
np.clip(x, 1, 5, out=x)
np.clip(x, 1, 5, o)
np.matmul(q, q, out=o[:, :3])
np.dot(q, q, out=q.copy())
np.concatenate([r[:2], r[2:]], out=o[0])
np.stack([r, r, r], out=o)
np.take(x, [0, 1, 2], axis=0, out=o)
np.choose(k % 2, [r[:3], r[1:]], out=o[0, :3])
np.compress([True, False, True], x, axis=0, out=o[:2])
np.einsum('ij,kj->ik', x, y, out=o[:, :3])
np.round(x, 1, out=x)
np.nan_to_num(x, copy=False)
np.cumprod(x, axis=0, out=o)
np.logical_not(x, out=m)
np.isfinite(x, out=m)
np.outer(k, r, out=o)
x.fill(3)
x.sort()
x.sort(axis=0)
x.partition(1)
x.put([0, 1], 5)
x.clip(1, 3, out=x)
x.sum(axis=0, out=r)
x.cumsum(axis=1, out=o)
x.dot(q.copy(), out=o)
x.round(1, out=o)
x.byteswap(inplace=True)
x.mean(0, None, r)
x[0] = 5
x[0] = r
x[0] = [1, 2, 3, 4]
x[:, 1] = k
x[...] = y
x[1:, ::2] = 0
x[m] = 0
x[m] = r[:2]
x[~m] = x[~m] * 2
x[x > 3] = -1
x[i % 2 == 0] = 1
x[[0, 2]] = r
x[[0, 2]] = 7
x[k[:2]] = 1
x[[0, 1], [1, 2]] = [8, 9]
x[:, [0, -1]] = 0
x[np.ix_([0, 1], [1, 2])] = 5
x[0, [1, 2]] = 3
x[True] = 1
x[False] = 1
x[[]] = 1
u[m] = 7
u[[1]] = x[[1]]
f[m] = 0.1
c[m] = 1 + 2j
x.flat = 3
x.flat[2] = 5
x.flat[[1, 2]] = 0
c.real = 5
c.imag = x
c.real[m] = 1
x.real = 2
r[::-1] = r
x.T[[0, 1]] = k
"""

INDEXING = """
x[0]
x[-1]
x[0, 1]
x[1:]
x[:, 1]
x[::-1]
x[..., 0]
x[None]
x[:, None, 1]
x[m]
x[~m]
x[m].sum()
x[x > 3]
x[(x > 1) & (x < 5)]
x[[0, 2]]
x[[-1, 0, 0]]
x[k]
x[k, k]
x[:, k]
x[[0, 1], [1, 2]]
x[[[0, 1], [2, 0]]]
x[np.array([0, 2])]
x[np.array([2, 0], 'u1')]
x[(0, 1), (1, 2)]
x[(0, 1),]
x[0, [1, 2]]
x[[0, 1], 2]
x[1:, [0, 3]]
x[..., [0, 3]]
x[None, [0]]
x[[0], None]
x[np.ix_([0, 1], [1, 2])]
x[True]
x[False]
x[np.True_]
x[True, 0]
x[[True, False, True]]
x[:, [True, False, True, False]]
x[[]]
x[np.zeros(0, int)]
x[np.nonzero(x > 2)]
x[m.nonzero()]
x[np.argsort(r)[:3] % 3]
x[i[:, 0] % 3]
x[s.astype('int64')]
x[np.array(1)]
x[np.int8(1)]
x[np.newaxis, ..., np.newaxis]
r[k]
r[r > r.mean()]
e[[]]
e[e > 0]
s[()]
s[...]
s[True]
u[m]
f[[0]]
c[m]
m[[0, 1]]
m[m]
x[5]
x[[5]]
x[[0, -9]]
x[np.ones(2, bool)]
x[[0, 1], [0, 1, 2]]
x[0, 0, 0]
x[0, 0, [0]]
x[[0.5]]
x[['a']]
x[{}]
x[..., ...]
x[m, m]
x[m, 0]
x[[0, 1]][:, [0, 1]]
x[x.argmax(axis=0) % 3, [0, 1, 2, 3]]
x[::2][[0]]
x.T[[0]]
x[::-1, ::-1][m]
x.take([0, 1])
x.take([0, 2], axis=0)
x.take(k, axis=1, mode='wrap')
x.item(0)
x.item(5)
x.item(-1)
x.item(1, 2)
x.item((1, 2))
x.item(12)
list(x[0])
x.flat[3]
x.flat[1:4]
list(x.flat)
[row.sum() for row in x]
[value for value in r]
[n for n, row in enumerate(x)]
[a + b for a, b in zip(r, r)]
3 in x
99 in x
1.5 in x
x.tolist()
len(x)
next(iter(x))
list(reversed(r))
dict(enumerate(r))
a, b, d = x
a, *rest = r
"""

METHODS = """
x.all()
x.all(axis=0)
x.any()
x.any(1, keepdims=True)
x.argmax()
x.argmax(axis=1)
x.argmin()
x.argmin(0)
x.argsort()
x.argsort(axis=0)
x.argpartition(1)
x.astype('float32')
x.astype('int32')
x.astype(int)
x.astype(np.float16)
x.byteswap()
k.choose([r, r, r, r])
x.clip(1, 3)
x.clip(min=2)
x.compress([True, False, True], axis=0)
c.conj()
c.conjugate()
x.conj()
x.copy()
x.copy(order='F')
x.cumprod()
x.cumsum()
x.cumsum(axis=0)
x.diagonal()
x.diagonal(1)
x.dot(r)
x.dot(y.T)
x.flatten()
x.flatten('F')
x.flatten(order='C')
x.T.flatten()
x.flatten('K')
x.T.flatten('K')
x.T.flatten('A')
x.max()
x.max(axis=0)
x.max(axis=(0, 1))
x.max(initial=100)
x.mean()
x.mean(axis=1)
x.mean(axis=0, keepdims=True)
u.mean()
x.min()
x.min(axis=1)
x.nonzero()
x.prod()
x.prod(axis=0)
u.prod()
x.ravel()
x.ravel('F')
x.ravel(order='C')
x.T.ravel()
x.T.ravel('K')
x[:, ::2].ravel()
x[::-1].ravel('K')
x.T.ravel('A')
e.ravel()
s.ravel()
s.flatten()
x.repeat(2)
x.repeat(2, axis=0)
x.reshape(4, 3)
x.reshape((2, 6))
x.reshape(-1)
x.reshape(2, -1)
x.reshape([12])
x.reshape(4, 3, order='F')
x.reshape(4, 3, order='F', copy=True)
x.T.reshape(-1, copy=True)
x.reshape((6, 2), copy=False)
x.reshape((2, 6), order='C')
x.T.reshape(6, 2, order='F')
x.reshape(5)
x.reshape(x.shape[::-1])
x.round()
x.round(1)
x.round(decimals=2)
r.searchsorted(2)
r.searchsorted([1, 3], side='right')
x[None].squeeze()
x[None].squeeze(0)
x[None].squeeze(axis=0)
x[None].squeeze(axis=(0,))
x.std()
x.std(axis=0, ddof=1)
x.sum()
x.sum(axis=0)
x.sum(1)
x.sum(axis=(0, 1))
x.sum(keepdims=True)
x.sum(dtype='float32')
x.sum(where=m)
u.sum()
i.sum()
m.sum()
c.sum()
x.swapaxes(0, 1)
x.swapaxes(-1, 0)
x.swapaxes(0, 5)
x.tobytes()
x.T.tobytes()
x.tobytes('F')
x.tobytes(order='A')
x[::-1].tobytes()
q.trace()
q.trace(1)
x.transpose()
x.transpose(1, 0)
x.transpose((1, 0))
x.var()
x.var(axis=1)
x.T
x.T.shape
x.mT
x.real
x.imag
c.real
c.imag
c[::-1].real
c.T.imag
x.ndim
x.size
x.shape
x.nbytes
x.itemsize
len(x.shape)
x.flags.c_contiguous
x.flags['C_CONTIGUOUS']
x.flags['W']
x.flags.f_contiguous
x.T.flags.f_contiguous
x.T.flags.contiguous
x[:, ::2].flags.contiguous
x.flags.writeable
x.flags.aligned
x.flags.forc
x.T.flags.fnc
x.flags.behaved
x.flags.carray
x.T.flags.farray
x[1:].flags.owndata
x.flags.writebackifcopy
x.flags['NONSENSE']
s.flags.forc
str(x[1:].flags)
bytes(x)
x.data.nbytes
x.data.format
x.view()
x.view('int64')
x.view(np.uint8)
x.view('complex128')
f.view('uint32')
x.ctypes.shape[:]
x.ctypes.strides[:]
x.max() - x.min()
x.argmax() // 4
np.unravel_index(x.argmax(), x.shape)
"""

FUNCTIONS = """
np.sum(x)
np.sum(x, axis=0)
np.mean(x, 1)
np.median(x)
np.median(x, axis=0)
np.std(x)
np.var(x, ddof=1)
np.min(x)
np.max(x, axis=1)
np.amax(x)
np.ptp(x)
np.percentile(x, 30)
np.quantile(x, [0.1, 0.9], axis=0)
np.average(x, weights=y)
np.prod(x)
np.all(m)
np.any(x > 3)
np.argmax(x)
np.argmin(x, axis=0)
np.argsort(x)
np.argwhere(x > 2)
np.flatnonzero(x)
np.nonzero(x)
np.count_nonzero(x)
np.cumsum(x)
np.diff(x)
np.diff(x, axis=0)
np.gradient(x)
np.ediff1d(x)
np.cross(r[:3], k)
np.dot(x, r)
np.vdot(r, r)
np.inner(x, y)
np.outer(r, r)
np.matmul(x, y.T)
np.tensordot(x, y, 2)
np.einsum('ij,ij->i', x, y)
np.einsum('ij->ji', x)
np.kron(k, r)
np.trace(q)
np.linalg.norm(x)
np.linalg.norm(x, axis=1)
np.linalg.inv(q)
np.linalg.det(q)
np.linalg.solve(q, k)
np.linalg.svd(x)[1]
np.linalg.eigvals(q)
np.linalg.qr(x)[1]
np.linalg.lstsq(y.T, r, rcond=None)[0]
np.linalg.matrix_rank(x)
np.linalg.pinv(q)
np.fft.fft(r)
np.fft.rfft2(x)
np.fft.fftshift(r)
np.fft.ifft(c)
np.sin(x)
np.cos(f)
np.exp(x)
np.log(y)
np.log1p(x)
np.sqrt(x)
np.square(x)
np.abs(x)
np.abs(c)
np.angle(c)
np.real(c)
np.imag(c)
np.conj(c)
np.iscomplexobj(c)
np.isrealobj(x)
np.sign(x)
np.floor(x)
np.ceil(x)
np.round(x, 1)
np.around(x)
np.rint(x)
np.trunc(x)
np.clip(x, 1, 2)
np.maximum(x, 2)
np.minimum(x, y)
np.fmax(x, y)
np.hypot(x, y)
np.arctan2(x, y)
np.power(x, 2)
np.mod(x, 2)
np.isnan(x)
np.isinf(x)
np.isfinite(x)
np.isclose(x, y)
np.allclose(x, x)
np.array_equal(x, y)
np.array_equal(x, x)
np.array_equiv(x, x)
np.logical_and(x, y)
np.logical_not(m)
np.bitwise_and(i, 1)
np.invert(i)
np.left_shift(i, 1)
np.add.reduce(x)
np.add.reduce(x, axis=1)
np.add.accumulate(r)
np.add.outer(r, r)
np.add.reduceat(r, [0, 2])
np.multiply.reduce(x)
np.logical_or.reduce(m)
np.maximum.reduce(x)
np.where(x > 2, x, 0)
np.where(m)
np.where(m, x, y)
np.select([x < 1, x > 3], [x, -x])
np.choose(k, [r, r, r, r])
np.concatenate([x, y])
np.concatenate((x, y), axis=1)
np.stack([x, y])
np.vstack([x, r])
np.hstack([x, y])
np.dstack([x, y])
np.column_stack([r, r])
np.block([[x, y], [y, x]])
np.append(x, r)
np.insert(r, 1, 9)
np.delete(r, [0, 1])
np.split(x, 2, axis=1)
np.array_split(r, 3)
np.tile(x, 2)
np.repeat(x, 2, axis=0)
np.pad(x, 1)
np.pad(x, 1, mode='edge')
np.roll(x, 1)
np.flip(x)
np.fliplr(x)
np.flipud(x)
np.rot90(x)
np.transpose(x)
np.swapaxes(x, 0, 1)
np.moveaxis(x, 0, 1)
np.rollaxis(x, 1)
np.expand_dims(x, 0)
np.squeeze(x[None])
np.reshape(x, (4, 3))
np.ravel(x)
np.broadcast_to(r, (3, 4))
np.broadcast_arrays(x, r)[1]
np.broadcast_shapes(x.shape, r.shape)
np.atleast_1d(s)
np.atleast_2d(r)
np.atleast_3d(x)
np.asarray(x)
np.array(x)
np.asanyarray(x)
np.ascontiguousarray(x.T)
np.asfortranarray(x)
np.array([x, y])
np.array([r, r]).shape
np.require(x, requirements='C')
np.copy(x)
np.zeros_like(x)
np.ones_like(x)
np.empty_like(x).shape
np.full_like(x, 3)
np.zeros(x.shape)
np.asarray([1, 2], like=np.ones(2))
np.shape(x)
np.ndim(x)
np.size(x)
np.size(x, 0)
np.sort(x)
np.sort(x, axis=None)
np.lexsort((r, r))
np.partition(x, 1)
np.searchsorted(r, [1, 2])
np.unique(x)
np.unique(i % 3, return_counts=True)
np.isin(x, [1, 2])
np.intersect1d(r, k)
np.union1d(r, k)
np.setdiff1d(r, k)
np.bincount(k)
np.digitize(x, [1, 3])
np.histogram(x)
np.histogram(x, bins=3)
np.histogram2d(r, r, bins=2)
np.interp(r, r, r)
np.convolve(r, k)
np.correlate(r, k)
np.corrcoef(x)
np.cov(x)
np.polyfit(r, r, 1)
np.polyval(r, 2)
np.roots(r)
np.trapezoid(r)
np.meshgrid(r, k)
np.ix_(k, k)
np.diag(q)
np.diag(r)
np.diagonal(q)
np.tril(q)
np.triu(q)
np.take(x, [0, 1])
np.take_along_axis(x, k[:, None], axis=1)
np.compress([True, False, True], x, axis=0)
np.extract(m, x)
np.apply_along_axis(np.sum, 0, x)
np.apply_over_axes(np.sum, x, 0)
np.vectorize(lambda n: n + 1)(r)
np.frompyfunc(lambda n: n + 1, 1, 1)(r)
np.piecewise(x, [x < 2, x >= 2], [0, 1])
np.nan_to_num(x)
np.nansum(x)
np.nanmean(x, axis=0)
np.nanmax(x)
np.packbits(u > 3)
np.unpackbits(u)
np.frombuffer(x)
np.frombuffer(u, 'u1')
np.array2string(x)
np.array_str(x)
np.array_repr(r)
np.format_float_positional(s)
np.result_type(f, np.float64)
np.can_cast(np.asarray(u).dtype, 'i2')
np.shares_memory(x, x)
np.shares_memory(x, y)
np.may_share_memory(x, x[1:])
np.lib.stride_tricks.sliding_window_view(r, 2)
np.lib.stride_tricks.as_strided(x, (2, 2)).shape
np.ndenumerate(x).__next__()
[int(n) for n in np.nditer(k)]
np.ma.masked_where(m, x).sum()
np.random.default_rng(1).choice(r, 3)
np.random.default_rng(1).permutation(r)
np.random.default_rng(1).shuffle(np.asarray(r))
np.testing.assert_array_equal(x, x)
np.testing.assert_allclose(x, x)
np.testing.assert_allclose(x, y)
np.savetxt(io.StringIO(), x)
saved(x)
np.iterable(x)
np.isscalar(x)
np.fromiter(r, float)
np.i0(r)
np.sinc(r)
np.heaviside(x, 1)
np.vecdot(x, y)
np.cumulative_sum(r)
np.permute_dims(x)
np.matrix_transpose(x)
np.unstack(x)
np.astype(x, 'f4')
np.linalg.vector_norm(x)
"""

LANGUAGE = """
sorted(r)
sorted(r, reverse=True)
sorted(r, key=lambda n: -n)
sum(r)
sum(r, 10)
max(r)
min(r)
max(r, key=lambda n: -n)
any(r)
all(r)
list(map(lambda n: n * 2, r))
list(filter(None, r))
list(zip(r, k))
tuple(r)
set(r) == {0.5, 1.0, 1.5, 2.0, 3.0}
len(set(r))
list(enumerate(k))
[*r]
json.dumps(x.tolist())
json.dumps({'a': r.tolist()})
json.loads(json.dumps(x.tolist()))
struct.pack('4d', *r)
struct.unpack_from('2d', x)
struct.unpack('12d', x)
struct.unpack('12d', x.tobytes())
array.array('d', r)
array.array('d', x.tobytes())
bytes(u)
bytearray(u)
bytearray(k)
memoryview(x).shape
memoryview(x).nbytes
memoryview(x).tolist()
int.from_bytes(u[0].tobytes(), 'little')
base64.b64encode(x)
binascii.hexlify(x)
zlib.crc32(x)
zlib.decompress(zlib.compress(x))
hashlib.sha256(x).hexdigest()
io.BytesIO(x).read(8)
io.BytesIO().write(x)
math.fsum(r)
math.prod(r)
math.dist(r, r)
math.hypot(*r)
math.sqrt(x[0, 1])
math.trunc(s)
math.ceil(s)
statistics.mean(r)
statistics.median(r)
statistics.stdev(r)
statistics.pstdev(r)
statistics.fmean(r)
statistics.quantiles(r)
random.Random(1).choice(r)
random.Random(1).sample(list(r), 2)
random.Random(1).choices(r, k=3)
random.Random(1).shuffle(r)
itertools.chain.from_iterable(x) and None
list(itertools.chain(r, k))
list(itertools.accumulate(r))
list(itertools.islice(r, 2))
list(itertools.product(k, k))[0]
list(itertools.combinations(k, 2))
list(itertools.pairwise(r))
list(itertools.starmap(pow, zip(k, k)))
functools.reduce(operator.add, r)
operator.itemgetter(1)(r)
operator.itemgetter(0, 2)(r)
operator.add(x, y)
operator.matmul(x, y.T)
operator.length_hint(x)
collections.Counter(k.tolist())
list(collections.deque(r, 2))
heapq.nlargest(2, r)
bisect.bisect(r, 1)
isinstance(x, collections.abc.Sized)
isinstance(x, collections.abc.Iterable)
isinstance(x, collections.abc.Hashable)
isinstance(x, collections.abc.Buffer)
callable(x)
decimal.Decimal(r[0])
fractions.Fraction(r[1])
datetime.timedelta(seconds=r[0])
textwrap.shorten(str(r.tolist()), 20)
' '.join(map(str, r))
f'{r[0]:.2f} {r[1]:08.3f}'
'{:.1f}'.format(r[2])
'%s' % r[0]
r[0].hex()
k[0].bit_length()
x[0, 0].is_integer()
str(r[1])
type(r[0] + 1)
pprint.pformat(r.tolist())
x if x.size else None
x.shape == (3, 4)
x.shape[0] * x.shape[1]
x is x
id(x) == id(x)
hasattr(x, '__len__')
hasattr(x, 'resize_more')
del x[0]
x[0] is x[0]
(lambda *n: n)(*r)
print(r[0], file=io.StringIO())
csv.writer(io.StringIO()).writerow(r)
[1, 2, 3, 4][slice(k[0], k[2])]
range(k[0], k[2])
'abc'[k[0]]
divmod(k[2], 2)
round(r[1], 2)
abs(r[0])
chr(k[1] + 65)
bin(k[2])
complex(r[0], r[1])
str(u.tobytes(), 'latin1')
[list(row) for row in x]
[[n * 2 for n in row] for row in x]
{n: row.sum() for n, row in enumerate(x)}
"""

KINDS = {"operators": OPERATORS, "in place": IN_PLACE, "indexing": INDEXING, "methods": METHODS,
         "functions": FUNCTIONS, "language": LANGUAGE}


def each():
    """Pairs of a kind and the text that people type."""
    for kind, text in KINDS.items():
        for line in text.strip().splitlines():
            yield kind, line
