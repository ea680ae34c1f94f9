// Writes the tables of docs/metrics.md, from the list of metrics and the rules for Prometheus.
//   node scripts/write-metrics-page.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { KUBERNETES_METRICS, type KubernetesMetric } from '../src/telemetry/kubernetes-metrics.ts'
import { CLOSED_LABELS } from '../src/telemetry/labels.ts'
import { commandOf, METRICS, type MetricDefinition } from '../src/telemetry/metric-list.ts'
import { ruleFiles, rules } from '../test/alerts/deployed.ts'

const root = resolve(import.meta.dirname, '..')
const PAGE = join(root, 'docs/metrics.md')
const PART = /^<!-- (\w+) -->\n[\s\S]*?^<!-- end -->$/gm

type Row = readonly string[]

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

function metricTable(): string {
  const rows = Object.entries<MetricDefinition>(METRICS).map(([name, { type, labels, help, buckets }]) => [
    code([name]),
    code([commandOf(name)]),
    type,
    code(labels),
    buckets === undefined ? help : `${help} Buckets: ${buckets.join(', ')}.`,
  ])
  return table(['metric', 'command', 'type', 'labels', 'meaning'], rows)
}

function labelTable(): string {
  const rows = Object.entries(CLOSED_LABELS).map(([label, values]) => [code([label]), code(values)])
  return table(['label', 'values'], rows)
}

function kubernetesTable(): string {
  const rows = Object.entries<KubernetesMetric>(KUBERNETES_METRICS).map(([name, { type, labels: own, jobs, help }]) => [
    code([name]),
    type,
    code(own),
    code(jobs),
    help,
  ])
  return table(['metric', 'type', 'labels', '`job`', 'meaning'], rows)
}

/** Returns a heading for each file, and its alerts with their texts. A value or a label of an alert is `…`. */
function alertTables(): string {
  return ruleFiles()
    .map((file) => {
      const rows = rules().flatMap(({ file: of, alert, for: held, labels: own, annotations }) =>
        of !== file || alert === undefined
          ? []
          : [[code([alert]), own!['severity']!, held!, `${shown(annotations!['summary']!)}. ${annotations!['description']}`]],
      )
      return `### deploy/alerts/${file}\n\n${table(['alert', 'severity', 'after', 'says'], rows)}`
    })
    .join('\n\n')
}

function shown(template: string): string {
  return template.replace(/\{\{.*?\}\}/g, '…')
}

const PARTS: Readonly<Record<string, () => string>> = {
  metrics: metricTable,
  labels: labelTable,
  kubernetes: kubernetesTable,
  alerts: alertTables,
}

/** Returns the up-to-date page. */
export function currentMetricsPage(): string {
  const written = new Set<string>()
  const page = readFileSync(PAGE, 'utf8').replace(PART, (_, part: string) => {
    written.add(part)
    const make = PARTS[part]
    if (make === undefined) throw new Error(`docs/metrics.md asks for ${part}, which scripts/write-metrics-page.ts does not have`)
    return `<!-- ${part} -->\n\n${make()}\n\n<!-- end -->`
  })
  const missing = Object.keys(PARTS).filter((part) => !written.has(part))
  if (missing.length > 0) throw new Error(`docs/metrics.md has no place for ${missing.join(', ')}`)
  return page
}

if (process.argv[1] === join(import.meta.dirname, 'write-metrics-page.ts')) {
  writeFileSync(PAGE, currentMetricsPage())
  console.log('the tables of docs/metrics.md are written')
}
