"""An observer that writes down what it is told."""

from clausal.observer import EVENTS, Observer


class Recorder(Observer):
    """Keeps every event, with its arguments, in the order in which it came."""

    def __init__(self):
        self.events = []

    def of(self, event):
        """Return the arguments of each event of one kind."""
        return [arguments for name, arguments in self.events if name == event]


def _recorder(event):
    return lambda self, *arguments: self.events.append((event, arguments))


for _event in EVENTS:
    setattr(Recorder, _event, _recorder(_event))
