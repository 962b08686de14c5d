// Force-directed layout (Fruchterman and Reingold 1991) of up to some hundred nodes. It is deterministic: new nodes
// begin beside what they hang on, so that a graph that grows keeps its shape.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Place nodes [{id, x?, y?, fixed?}] with edges [{source, target}]; x and y of the nodes are set. */
export function layout(nodes, edges, { distance = 90, rounds = 260 } = {}) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const pairs = edges
    .map(({ source, target }) => [byId.get(source), byId.get(target)])
    .filter(([a, b]) => a && b && a !== b);
  seed(nodes, pairs, distance);
  const heat = nodes.some((node) => node.settled) ? distance * 0.5 : distance * 1.5;
  for (let round = 0; round < rounds; round += 1) {
    const most = heat * (1 - round / rounds) ** 1.5 + 0.1;
    for (const node of nodes) [node.dx, node.dy] = [-node.x * 0.012, -node.y * 0.016];
    repel(nodes, distance);
    attract(pairs, distance);
    for (const node of nodes) {
      if (node.fixed) continue;
      const length = Math.hypot(node.dx, node.dy) || 1;
      const step = Math.min(length, most) / length;
      node.x += node.dx * step;
      node.y += node.dy * step;
    }
  }
  for (const node of nodes) {
    node.settled = true;
    delete node.dx;
    delete node.dy;
  }
  return nodes;
}

function seed(nodes, pairs, distance) {
  nodes.forEach((node, place) => {
    if (node.x !== undefined) return;
    const pair = pairs.find(([a, b]) => (a === node && b.x !== undefined) || (b === node && a.x !== undefined));
    const near = pair ? (pair[0] === node ? pair[1] : pair[0]) : { x: 0, y: 0 };
    const radius = distance * (pair ? 0.7 : 0.25 * Math.sqrt(place + 1));
    node.x = near.x + radius * Math.cos(place * GOLDEN);
    node.y = near.y + radius * Math.sin(place * GOLDEN);
  });
}

function repel(nodes, distance) {
  for (let i = 0; i < nodes.length; i += 1) {
    const a = nodes[i];
    for (let j = i + 1; j < nodes.length; j += 1) {
      const b = nodes[j];
      let [x, y] = [a.x - b.x, a.y - b.y];
      if (x === 0 && y === 0) [x, y] = [0.1 * (i + 1), 0.1 * (j + 1)];
      const push = (distance * distance) / (x * x + y * y);
      a.dx += x * push;
      a.dy += y * push;
      b.dx -= x * push;
      b.dy -= y * push;
    }
  }
}

function attract(pairs, distance) {
  for (const [a, b] of pairs) {
    const [x, y] = [a.x - b.x, a.y - b.y];
    const pull = Math.hypot(x, y) / distance;
    a.dx -= x * pull;
    a.dy -= y * pull;
    b.dx += x * pull;
    b.dy += y * pull;
  }
}
