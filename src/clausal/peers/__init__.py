"""Processes that train or ask together: who has which rows, how numbers travel, how they meet and how they end."""

from clausal.peers.dealing import Blocks, Dealing
from clausal.peers.group import ALONE, Peers

__all__ = ["ALONE", "Blocks", "Dealing", "Peers"]
