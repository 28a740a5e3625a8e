"""The data that all sides compute with. Each side draws it again from the parameters of Kiln's library."""
import numpy

NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "i1": "u1", "index": "i8"}
GAIN = 1  # factor on the drawn elements of matrices and filters


def drawn(shape, dtype, generator, is_constant):
    """Matrices and filters are such that activations neither grow nor shrink (He et al., 2015); scales, shifts and
    variances are positive; indices are 0 and 1."""
    if not dtype.startswith("f"):
        return generator.integers(0, 2, shape).astype(NUMPY[dtype])
    if is_constant and len(shape) > 1:
        fan = max(1, numpy.prod(shape) // max(shape))
        return (generator.standard_normal(shape) * (2 / fan) ** 0.5 * GAIN).astype(NUMPY[dtype])
    return generator.uniform(0.5 if is_constant else -1, 1.5 if is_constant else 1, shape).astype(NUMPY[dtype])


def given(parameters):
    """Pairs of a role, "input" or "constant", and an array, in the order of the model's arguments."""
    generator = numpy.random.default_rng(0)
    arguments = [p for p in parameters if p["role"] != "output"]
    return [(p["role"], drawn(p["shape"], p["dtype"], generator, p["role"] == "constant")) for p in arguments]
