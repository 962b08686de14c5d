"""Clauses as axioms of OWL: those that are one are written as RDF in any syntax, the others are counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clausal.choices import RDF_ENDINGS
from clausal.errors import InputError
from clausal.logic.formats.owl.triples import OWL, RDF, RDFS, TYPE
from clausal.logic.formats.rule_file import Tell, tell_nobody
from clausal.logic.shape import chain_of, horn_parts, shape_of
from clausal.logic.syntax import Atom, Clause, Constant, Falsum, Term, Variable

WRITTEN = {ending: syntax for ending, syntax in RDF_ENDINGS.items() if syntax != "N3"}
"""The endings of files that axioms are written to."""


def write(clauses: Iterable[Clause], ending: str = ".ttl", tell: Tell = tell_nobody) -> Iterator[str]:
    """Yield the lines of an ontology; clauses that are no axiom are left out with a sentence, all of them refused."""
    from pyoxigraph import RdfFormat, serialize

    clauses = list(clauses)
    axioms = _Axioms()
    left_out = [clause for clause in clauses if not axioms.add(clause)]
    if len(left_out) == len(clauses):
        raise InputError(
            "none of the clauses is an axiom of OWL, such as p(X, Y) => q(X, Y) with IRIs as names; "
            "write them as clauses: --to clausal"
        )
    if left_out:
        tell(f"{len(left_out):,} of {len(clauses):,} clauses are no axioms of OWL and left out, such as {left_out[0]}")
    weighted = sum(clause.weight != 1 for clause in clauses) - sum(clause.weight != 1 for clause in left_out)
    if weighted:
        tell(f"axioms hold without exception: the weights of {weighted:,} of the written clauses are left out")
    prefixes = {"owl": OWL, "rdf": RDF, "rdfs": RDFS} if WRITTEN[ending] in ("TURTLE", "TRIG", "RDF_XML") else None
    text = serialize(axioms.triples(), format=getattr(RdfFormat, WRITTEN[ending]), prefixes=prefixes)
    yield from (text or b"").decode("utf-8").splitlines()


class _NotAnAxiomError(Exception):
    """A clause or a name that OWL cannot say; never leaves this module."""


class _Axioms:
    """Triples of axioms; two inclusions that are inverse to each other become one ``owl:inverseOf``."""

    def __init__(self) -> None:
        self._triples: list[Any] = []
        self._inverses: dict[tuple[str, str], None] = {}
        self._blanks = 0

    def add(self, clause: Clause) -> bool:
        """Add the axiom that a clause is; tell whether it is one."""
        before = len(self._triples)
        try:
            parts = horn_parts(clause)
            if parts is None:
                return False
            self._add(clause, *parts)
        except _NotAnAxiomError:
            del self._triples[before:]
            return False
        return True

    def triples(self) -> list[Any]:
        """Return all triples."""
        for one, other in list(self._inverses):
            if (other, one) not in self._inverses:
                self._say(_iri(one), f"{RDFS}subPropertyOf", self._inverse(other))
            elif one < other:
                self._say(_iri(one), f"{OWL}inverseOf", _iri(other))
        self._inverses.clear()
        return self._triples

    def _add(self, clause: Clause, body: Sequence[Atom], head: Atom | Falsum) -> None:
        atoms = [*body, head] if isinstance(head, Atom) else list(body)
        variables = {term for atom in atoms for term in atom.terms if isinstance(term, Variable)}
        if not body:
            self._reflexive(atoms[0])
        elif len(variables) == 1:
            self._class_axiom(body, head, next(iter(variables)))
        elif isinstance(head, Falsum):
            self._disjoint(body)
        elif len(body) == 1 and {*body[0].terms} - {*head.terms}:
            self._domain_or_range(body[0], head)
        else:
            self._property_axiom(clause, body, head)

    def _reflexive(self, atom: Atom) -> None:
        if atom.subject != atom.object or not isinstance(atom.subject, Variable):
            raise _NotAnAxiomError
        self._say(self._property(atom.relation), TYPE, _iri(f"{OWL}ReflexiveProperty"))

    def _class_axiom(self, body: Sequence[Atom], head: Atom | Falsum, variable: Variable) -> None:
        if isinstance(head, Falsum) and len(body) == 1 and body[0].subject == body[0].object:
            self._say(self._property(body[0].relation), TYPE, _iri(f"{OWL}IrreflexiveProperty"))
            return
        parts = [self._class(atom, variable) for atom in body]
        if isinstance(head, Falsum) and len(body) == 2:
            self._say(parts[0], f"{OWL}disjointWith", parts[1])
            return
        lower = parts[0] if len(parts) == 1 else self._blank((f"{OWL}intersectionOf", self._list(parts)))
        upper = _iri(f"{OWL}Nothing") if isinstance(head, Falsum) else self._class(head, variable)
        self._say(lower, f"{RDFS}subClassOf", upper)

    def _disjoint(self, body: Sequence[Atom]) -> None:
        if len(body) != 2 or {*body[0].terms} != {*body[1].terms} or len({*body[0].terms}) != 2 or _has_constant(body):
            raise _NotAnAxiomError
        one, other = body
        turned = one.subject != other.subject
        if turned and one.relation == other.relation:
            self._say(self._property(one.relation), TYPE, _iri(f"{OWL}AsymmetricProperty"))
            return
        second = self._inverse(other.relation) if turned else self._property(other.relation)
        self._say(self._property(one.relation), f"{OWL}propertyDisjointWith", second)

    def _domain_or_range(self, body: Atom, head: Atom) -> None:
        variables = {term for term in head.terms if isinstance(term, Variable)}
        if len(variables) != 1 or _has_constant([body]) or not variables <= {*body.terms}:
            raise _NotAnAxiomError
        (variable,) = variables
        predicate = "domain" if variable == body.subject else "range"
        self._say(self._property(body.relation), f"{RDFS}{predicate}", self._class(head, variable))

    def _property_axiom(self, clause: Clause, body: Sequence[Atom], head: Atom) -> None:
        shape, relations, _ = shape_of(clause)
        way = chain_of(shape.atoms[:-1], shape.atoms[-1].slots)
        if way is None or _has_constant([*body, head]):
            raise _NotAnAxiomError
        steps = [(relations[index], backwards) for index, backwards in way]
        for name in (head.relation, *(relation for relation, _ in steps)):
            self._property(name)
        if len(steps) == 1:
            ((relation, backwards),) = steps
            if not backwards:
                self._say(_iri(relation), f"{RDFS}subPropertyOf", _iri(head.relation))
            elif relation == head.relation:
                self._say(_iri(relation), TYPE, _iri(f"{OWL}SymmetricProperty"))
            else:
                self._inverses.setdefault((relation, head.relation))
        elif steps == [(head.relation, False)] * 2:
            self._say(_iri(head.relation), TYPE, _iri(f"{OWL}TransitiveProperty"))
        else:
            members = [self._inverse(relation) if backwards else _iri(relation) for relation, backwards in steps]
            self._say(_iri(head.relation), f"{OWL}propertyChainAxiom", self._list(members))

    def _class(self, atom: Atom, variable: Variable) -> Any:
        """Return the class of the entities for which an atom with one variable holds."""
        if atom.relation == TYPE:
            if atom.subject != variable or not isinstance(atom.object, Constant):
                raise _NotAnAxiomError
            return _iri(atom.object.name)
        if atom.subject == atom.object:
            from pyoxigraph import Literal

            return self._restriction(_iri(atom.relation), "hasSelf", Literal(True))
        if atom.subject == variable:
            return self._restriction(_iri(atom.relation), "hasValue", _iri(_name(atom.object)))
        return self._restriction(self._inverse(atom.relation), "hasValue", _iri(_name(atom.subject)))

    def _restriction(self, property: Any, kind: str, value: Any) -> Any:
        return self._blank((TYPE, _iri(f"{OWL}Restriction")), (f"{OWL}onProperty", property), (f"{OWL}{kind}", value))

    def _property(self, name: str) -> Any:
        if name == TYPE:
            raise _NotAnAxiomError
        return _iri(name)

    def _inverse(self, name: str) -> Any:
        return self._blank((f"{OWL}inverseOf", self._property(name)))

    def _list(self, members: Sequence[Any]) -> Any:
        rest = _iri(f"{RDF}nil")
        for member in reversed(members):
            rest = self._blank((f"{RDF}first", member), (f"{RDF}rest", rest))
        return rest

    def _blank(self, *said: tuple[str, Any]) -> Any:
        from pyoxigraph import BlankNode

        self._blanks += 1
        node = BlankNode(f"b{self._blanks}")
        for predicate, object in said:
            self._say(node, predicate, object)
        return node

    def _say(self, subject: Any, predicate: str, object: Any) -> None:
        from pyoxigraph import Triple

        self._triples.append(Triple(subject, _iri(predicate), object))


def _iri(name: str) -> Any:
    from pyoxigraph import NamedNode

    try:
        return NamedNode(name)
    except ValueError:
        raise _NotAnAxiomError from None


def _name(term: Term) -> str:
    if not isinstance(term, Constant):
        raise _NotAnAxiomError
    return term.name


def _has_constant(atoms: Iterable[Atom]) -> bool:
    return any(isinstance(term, Constant) for atom in atoms for term in atom.terms)
