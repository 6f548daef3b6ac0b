import { median } from "../measure/percentile.mjs";
import { systems } from "../systems/start-system.mjs";

const panels = [["W1", "accepted per second"], ["W2", "no-op runs end to end per second"], ["W3", "runs of five recorded steps per second"]];
const [width, left, bar, gap] = [760, 130, 20, 8];

/** The three rates of every system as an SVG that reads on light and dark ground. */
export function drawChart(results) {
  const parts = [];
  let y = 10;
  for (const [workload, title] of panels) {
    const values = systems.map(({ label }) => ({ label, value: median(results.filter((one) => one.label === label && one.workload === workload).map((one) => one.perSecond)) })).filter(({ value }) => value !== undefined);
    const most = Math.max(...values.map(({ value }) => value));
    parts.push(`<text x="10" y="${y + 14}" font-weight="bold">${title}</text>`);
    y += 26;
    for (const { label, value } of values) {
      const length = Math.round(((width - left - 90) * value) / most);
      parts.push(`<text x="${left - 8}" y="${y + 15}" text-anchor="end">${label}</text><rect x="${left}" y="${y}" width="${length}" height="${bar}" fill="${label === "mainstay" ? "#2f7d4f" : "#8a94a6"}"/><text x="${left + length + 6}" y="${y + 15}">${Math.round(value).toLocaleString("en-US")}</text>`);
      y += bar + gap;
    }
    y += 14;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="sans-serif" font-size="13"><rect width="${width}" height="${y}" fill="#fff"/>${parts.join("\n")}</svg>\n`;
}
