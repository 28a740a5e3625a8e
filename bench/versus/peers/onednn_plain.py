"""oneDNN with channels last in and out, as Kiln's own inputs and results are; weights in oneDNN's layout."""
from peers import onednn
from peers.onednn import PACKAGES, covers, install  # noqa: F401

ENVIRONMENT = "onednn"


def make(operator, folder):
    onednn.FREE = 0
    return onednn.make(operator, folder)
