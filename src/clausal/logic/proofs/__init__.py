"""Proofs: why a fact of a closure follows, as a tree of clauses and given facts, and what nearly supports one that
does not."""

from clausal.logic.proofs.near import NearSupport
from clausal.logic.proofs.printing import near_to_json, print_near, print_proof, proof_to_json
from clausal.logic.proofs.proof import Proof
from clausal.logic.proofs.prover import Prover

__all__ = ["NearSupport", "Proof", "Prover", "near_to_json", "print_near", "print_proof", "proof_to_json"]
