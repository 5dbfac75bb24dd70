// Plots as SVG: lines of the last hour, bars, and a time line. Each is a picture with a text for those who cannot see it.
const NS = "http://www.w3.org/2000/svg";

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function frame(label, width, height, cls = "plot") {
  return svg("svg", { class: cls, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
}

// A number above all values that is easy to read: 1, 2 or 5 times a power of ten.
function roof(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((n) => n * power >= value) * power;
}

// points: [[time, value, value2?], …]; from and to are seconds.
export function lines(label, points, from, to, format) {
  const W = 600, H = 130, L = 0, T = 16, B = 112;
  const top = roof(Math.max(0, ...points.flatMap((p) => p.slice(1))));
  const x = (t) => L + (W - L) * Math.max(0, t - from) / (to - from);
  const y = (v) => B - (B - T) * v / top;
  const node = frame(label, W, H);
  for (const part of [0, 0.5, 1]) node.append(svg("line", { class: "axis", x1: L, x2: W, y1: y(top * part), y2: y(top * part) }));
  const seen = points.filter((p) => p[0] >= from);
  const path = (i) => seen.map((p, n) => `${n ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[i]).toFixed(1)}`).join("");
  if (seen.length > 0) {
    node.append(svg("path", { class: "area", d: `${path(1)}L${x(seen.at(-1)[0]).toFixed(1)} ${B}L${x(seen[0][0]).toFixed(1)} ${B}Z` }));
    if (seen[0].length > 2) node.append(svg("path", { class: "second", d: path(2) }));
    node.append(svg("path", { d: path(1) }));
  }
  const scale = document.createElement("div");
  scale.className = "plothead soft";
  scale.append(`top line ${format(top)}`, Object.assign(document.createElement("span"), { textContent: to - from > 3500 ? "the last hour" : to - from < 90 ? "the last minute" : `the last ${Math.round((to - from) / 60)} min` }));
  return [node, scale];
}

// bars: [[label, value], …]
export function bars(label, data) {
  const W = 600, H = 130, B = 108;
  const top = Math.max(1, ...data.map((d) => d[1]));
  const node = frame(label, W, H);
  const step = W / Math.max(data.length, 1);
  data.forEach(([name, value], i) => {
    const height = (B - 8) * value / top;
    node.append(svg("rect", { x: i * step + 1, width: Math.max(step - 2, 1), y: B - height, height, rx: 2 }, svg("title", {}, `${name}: ${value}`)));
  });
  node.append(svg("line", { class: "axis", x1: 0, x2: W, y1: B, y2: B }));
  return node;
}

// times: Date objects, in their order, the first of them next.
export function timeline(label, times) {
  const W = 300, H = 30, node = frame(label, W, H, "plot timeline");
  node.setAttribute("preserveAspectRatio", "xMidYMid meet");
  const from = Date.now(), to = Math.max(times.at(-1) ?? from, from + 1000);
  node.append(svg("line", { class: "axis", x1: 8, x2: W - 8, y1: 15, y2: 15 }));
  times.forEach((time, i) => {
    const x = 8 + (W - 16) * Math.max(0, time - from) / (to - from);
    node.append(svg("circle", { class: i === 0 ? "first" : "", cx: x.toFixed(1), cy: 15, r: 4.5 }, svg("title", {}, time.toLocaleString())));
  });
  return node;
}
