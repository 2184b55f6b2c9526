/**
 * Colours follow the page: `light-dark()` takes the colour scheme that the element inherits. Each can be set from
 * outside by its variable; parts (`::part(answer)`) are there for the rest.
 */
export const styles = `
:host {
  --text: var(--sluice-ask-text, light-dark(#1b1f24, #e8eaed));
  --muted: var(--sluice-ask-muted, light-dark(#57606a, #a3abb5));
  --background: var(--sluice-ask-background, light-dark(#ffffff, #16191d));
  --surface: var(--sluice-ask-surface, light-dark(#f4f6f8, #20252b));
  --border: var(--sluice-ask-border, light-dark(#8a939d, #68717c));
  --accent: var(--sluice-ask-accent, light-dark(#0b63c5, #6cb0ff));
  --on-accent: var(--sluice-ask-on-accent, light-dark(#ffffff, #0b1a2b));
  --warning: var(--sluice-ask-warning, light-dark(#8a4b00, #ffc46b));
  --danger: var(--sluice-ask-danger, light-dark(#b3261e, #ff8a80));
  --radius: var(--sluice-ask-radius, 8px);
  display: block;
  color: var(--text);
  background: var(--sluice-ask-background, transparent);
  font: 16px/1.5 var(--sluice-ask-font, system-ui, sans-serif);
  font-family: var(--sluice-ask-font, inherit);
  container-type: inline-size;
}
:host([theme='light']) { color-scheme: light; }
:host([theme='dark']) { color-scheme: dark; }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
p { margin: 0; }
.hidden {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.question { display: flex; gap: 8px; flex-wrap: wrap; }
.question label { flex: 1 0 100%; font-weight: 600; }
.question input { flex: 1 1 200px; min-width: 0; }
input, select, textarea, button {
  font: inherit; color: inherit; padding: 8px 12px; min-height: 44px;
  border: 1px solid var(--border); border-radius: var(--radius); background: var(--background);
}
input[type='checkbox'] { min-height: 0; width: 20px; height: 20px; vertical-align: middle; accent-color: var(--accent); }
::placeholder { color: var(--muted); opacity: 1; }
button { cursor: pointer; font-weight: 600; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.quiet { background: var(--surface); font-weight: 400; text-align: start; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.outcome { margin-top: 16px; display: grid; gap: 12px; min-width: 0; }
.outcome:empty { display: none; }
.outcome > * { min-width: 0; }
.told { display: grid; gap: 4px; padding: 10px 14px; background: var(--surface); border-radius: var(--radius); }
.told ul { margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 4px 16px; }
.told .from, .note, .hint, .empty, .figure-title, .chart-title, .status { color: var(--muted); font-size: 14px; }
.told .left { color: var(--warning); }
.problem { color: var(--danger); }
.offers { display: grid; gap: 8px; justify-items: start; }
.heading { font-weight: 600; }
.switch { display: inline-flex; margin-bottom: 8px; }
.switch button { font-weight: 400; border-radius: var(--radius) 0 0 var(--radius); }
.switch button + button { border-radius: 0 var(--radius) var(--radius) 0; margin-inline-start: -1px; }
.switch button[aria-pressed='true'] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.figure { font-size: 40px; line-height: 1.2; font-weight: 650; }
.scrolled { overflow-x: auto; border: 1px solid var(--border); border-radius: var(--radius); max-height: 420px; }
table { border-collapse: collapse; width: 100%; font-size: 15px; }
th, td { padding: 8px 12px; text-align: start; border-bottom: 1px solid var(--surface); white-space: nowrap; }
th { position: sticky; top: 0; background: var(--surface); font-weight: 600; }
th.number, td.number { text-align: end; font-variant-numeric: tabular-nums; }
.chart { display: block; width: 100%; max-width: 720px; height: auto; }
.scrolled + button { margin-top: 8px; }
.chart text { fill: var(--text); font-size: 14px; }
.chart .label { fill: var(--muted); }
.chart .bar { fill: var(--accent); }
.chart .line { fill: none; stroke: var(--accent); stroke-width: 2.5; stroke-linejoin: round; }
.chart .point, .chart .area, .chart .part { fill: var(--accent); }
.chart .area { fill-opacity: 0.25; }
.chart .part { stroke: var(--sluice-ask-background, light-dark(#ffffff, #16191d)); stroke-width: 1.5; }
.chart .s1 { --accent: light-dark(#b85c00, #ffb25c); }
.chart .s2 { --accent: light-dark(#7a3db8, #c79bff); }
.chart .s3 { --accent: light-dark(#1d7a3c, #74d68f); }
.chart .s4 { --accent: light-dark(#57606a, #a3abb5); }
.chart .s5 { --accent: light-dark(#b3261e, #ff8a80); }
.chart .line.s1, .chart .line.s3, .chart .line.s5 { stroke-dasharray: 6 4; }
.chart .guide { stroke: var(--border); stroke-opacity: 0.35; }
.values { display: grid; gap: 12px; padding: 14px; background: var(--surface); border-radius: var(--radius); }
.values .main { justify-self: start; }
.field { display: grid; gap: 4px; border: 0; margin: 0; padding: 0; max-width: 420px; }
.field label, .field legend { font-weight: 600; padding: 0; }
.field .choice { font-weight: 400; }
.complaint { color: var(--danger); font-size: 14px; }
@container (max-width: 480px) {
  .question input { flex-basis: 100%; }
  .question button { flex: 1 0 100%; }
  .figure { font-size: 32px; }
}
`
