import { whereIs } from './pages.ts'
import type { Incident, IncidentName } from '../incidents/incident.ts'
import type { IncidentResult, IncidentShow, Passage } from '../incidents/play.ts'
import type { ViewDeps } from './view.ts'

export interface IncidentSummary {
  begin(incident: Incident): void
  conclude(incident: Incident, result: IncidentResult, faults: readonly string[]): void
}

/** Shows each command of sluice as an operator types it, and its findings. */
export function createIncidentShow({ out, colors }: ViewDeps): IncidentShow & IncidentSummary {
  const say = (...lines: readonly string[]): void => out.write(`${lines.join('\n')}\n`)
  const coloured = (line: string): string => {
    if (/(^|\d {2})‼ /.test(line)) return colors.yellow(line)
    return line.startsWith('× ') ? colors.red(line) : line
  }
  return {
    begin({ name, symptom }) {
      say(
        colors.bold(`The incident ${name}`),
        symptom,
        '',
        'An API server, a kubelet and controllers start, with pods behind a load balancer …',
      )
    },
    step: (text) => say('', colors.bold(text), ''),
    say: (text) => say(text),
    command: (text) => say(colors.dim(`$ ${text}`)),
    line: (text) => say(`  ${coloured(text)}`),
    conclude({ name, expected }, { before, withRules, after }, faults) {
      const rows = [['as it was', before] as const, ...(withRules === undefined ? [] : [['with rules', withRules] as const])]
      const table = passages([...rows, ['with the cure', after]])
      say('', colors.bold('What came of it'), ...table.map((line) => `  ${line}`), '')
      if (faults.length === 0) say(colors.green(`sluice: found by ${expected.join(', ')}; after the cure nothing is found.`))
      else say(...faults.map((fault) => colors.red(`sluice: ${fault}`)))
      say('', 'Where to look next:', `  ${whereIs(pageOf(name))}`, '      from the symptom to the cure, on your own cluster')
    },
  }
}

/** The pages that have another name than their incident. */
const PAGES: Readonly<Partial<Record<IncidentName, string>>> = { selector: 'selector-reset', sync: 'multi-cluster-delay' }

/** The path of the page of an incident, relative to the root of the repository. */
export function pageOf(name: IncidentName): string {
  return `docs/incidents/${PAGES[name] ?? name}.md`
}

/** Returns a table with a line for each passage. */
function passages(of: readonly (readonly [name: string, passage: Passage])[]): string[] {
  const hasCopies = of.some(([, { copyLags }]) => copyLags.length > 0)
  const rows = [
    [
      '',
      'failed requests',
      'changes at the load balancer',
      'changes of addresses',
      ...(hasCopies ? ['copies leave after Ready'] : []),
      'found',
    ],
    ...of.map(([name, { requests, failed, changes, addressChanges, copyLags, found }]) => [
      name,
      `${failed} of ${requests}`,
      `${changes.length}`,
      `${addressChanges}`,
      ...(hasCopies ? [copyLags.map((ms) => `${(ms / 1_000).toFixed(3)} s`).join(', ')] : []),
      found.length === 0 ? 'nothing' : found.join(', '),
    ]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('   ')
      .trimEnd(),
  )
}
