import { describe, expect, test } from 'vitest'
import { OBSERVER_FINDING_CODES } from '../../src/observer/told.ts'
import { CLOSED_LABELS, type LabelName } from '../../src/telemetry/labels.ts'
import { KUBERNETES_METRICS } from '../../src/telemetry/kubernetes-metrics.ts'
import { METRICS } from '../../src/telemetry/metric-list.ts'
import { dashboard, rules } from './deployed.ts'
import { groupedBy, selectors } from './selectors.ts'

/** Of Prometheus itself, and of the way in which it has come to a series. */
const OF_PROMETHEUS = { up: { type: 'gauge', labels: [] } }
const OF_TARGETS = ['job', 'instance', 'cluster']
const recorded = Object.fromEntries(
  rules().flatMap(({ record, expr }) => (record === undefined ? [] : [[record, { type: 'gauge', labels: groupedBy(expr) }]])),
)
interface Known {
  type: string
  labels: readonly string[]
  jobs?: readonly string[]
}
const known: Record<string, Known> = { ...METRICS, ...KUBERNETES_METRICS, ...OF_PROMETHEUS, ...recorded }

/** The metric that a name is of: a histogram has three. */
function find(metric: string): Known | undefined {
  const base = metric.replace(/_(bucket|sum|count)$/, '')
  return base !== metric && known[base]?.type === 'histogram'
    ? { ...known[base], labels: [...known[base].labels, ...(metric.endsWith('_bucket') ? ['le'] : [])] }
    : known[metric]?.type === 'histogram'
      ? undefined
      : known[metric]
}

/** What a query says that cannot be. */
function problems(query: string): string[] {
  const found = selectors(query)
  if (found.length === 0) return ['it names no metric']
  const all = found.flatMap(({ metric }) => find(metric)?.labels ?? [])
  return [
    ...found.flatMap(({ metric, matchers }) => {
      const definition = find(metric)
      if (definition === undefined) return [`no metric ${metric}`]
      return matchers.flatMap(({ label, value, operator }) => {
        if (![...definition.labels, ...OF_TARGETS].includes(label)) return [`${metric} has no label ${label}`]
        const values = label === 'job' ? definition.jobs : metric in METRICS ? CLOSED_LABELS[label as LabelName] : undefined
        const wanted = operator === '=~' ? value.split('|') : [value]
        return wanted.flatMap((one) => (values === undefined || values.includes(one) ? [] : [`${metric} has no ${label} ${one}`]))
      })
    }),
    ...groupedBy(query).flatMap((label) => ([...all, ...OF_TARGETS].includes(label) ? [] : [`no metric has a label ${label}`])),
  ]
}

const queries = [
  ...rules().map(({ alert, record, expr }) => ({ of: `rule ${alert ?? record}`, query: expr })),
  ...dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ of: `panel ${title}`, query: expr.replaceAll('"$cluster"', '""') })),
  ),
]

test.each(queries)('$of names metrics and labels that there are', ({ query }) => {
  expect(problems(query)).toEqual([])
})

test.each([
  ['sum by (cluster) (rate(sluice_endpoint_lag_seconds[5m]))', 'no metric sluice_endpoint_lag_seconds'],
  ['sluice_cluster_up_bucket > 0', 'no metric sluice_cluster_up_bucket'],
  ['workqueue_depth{queue="endpoint"} > 100', 'workqueue_depth has no label queue'],
  ['workqueue_depth{job="kube-scheduler"}', 'workqueue_depth has no job kube-scheduler'],
  ['sluice_findings{code="stale"} > 0', 'sluice_findings has no code stale'],
  ['sum by (pod) (sluice_findings)', 'no metric has a label pod'],
  ['vector(1)', 'it names no metric'],
])('control: %s', (query, problem) => {
  expect(problems(query)).toEqual([problem])
})

test('a query is taken apart', () => {
  expect(selectors('a:b{x="1", y=~"2|3"} offset 1h > 5 * rate(c_total[$__rate_interval]) and on (z) d')).toEqual([
    {
      metric: 'a:b',
      matchers: [
        { label: 'x', operator: '=', value: '1' },
        { label: 'y', operator: '=~', value: '2|3' },
      ],
    },
    { metric: 'c_total', matchers: [] },
    { metric: 'd', matchers: [] },
  ])
})

describe('the rules', () => {
  const alerts = rules().filter(({ alert }) => alert !== undefined)

  test('each finding of an observation has an alert', () => {
    const coded = alerts.flatMap(({ expr }) => selectors(expr)).flatMap(({ matchers }) => matchers)
    const codes = new Set(coded.filter(({ label }) => label === 'code').map(({ value }) => value))
    expect([...codes].filter((code) => (OBSERVER_FINDING_CODES as readonly string[]).includes(code)).toSorted()).toEqual(
      [...OBSERVER_FINDING_CODES].toSorted(),
    )
  })

  test('each alert has a name of its own, says how bad it is, what is so, and what to do', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    for (const { alert, labels, annotations } of alerts) {
      expect(Object.keys(labels!), alert).toEqual(['severity'])
      expect(['warning', 'critical'], alert).toContain(labels!['severity'])
      expect(Object.keys(annotations!), alert).toEqual(['summary', 'description'])
      expect(annotations!['summary'], alert).not.toMatch(/\.$/)
      expect(annotations!['description'], alert).toMatch(/\.$/)
    }
  })

  test('an alert shows no label that its numbers lack', () => {
    for (const { alert, expr, annotations } of alerts) {
      const shown = [
        ...Object.values(annotations!)
          .join()
          .matchAll(/\$labels\.(\w+)/g),
      ].map(([, label]) => label!)
      const grouped = groupedBy(expr.replace(/\bon\s*\([^)]*\)/g, ''))
      const has = grouped.length > 0 ? grouped : selectors(expr).flatMap(({ metric }) => [...(find(metric)?.labels ?? [])])
      for (const label of shown) expect(has, `${alert}: ${label}`).toContain(label)
    }
  })
})

describe('the dashboard', () => {
  const { panels, templating } = dashboard()

  test('it shows each metric of sluice', () => {
    const shown = new Set(
      panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => selectors(expr))).map(({ metric }) => metric),
    )
    for (const name of Object.keys(METRICS))
      expect(
        [name, `${name}_bucket`].some((one) => shown.has(one)),
        name,
      ).toBe(true)
  })

  test('a legend shows no label that its query lacks', () => {
    for (const { title, targets = [] } of panels)
      for (const { expr, legendFormat } of targets)
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(groupedBy(expr), title).toContain(label)
  })

  test('no panel lies on another, and none without a query', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { title, type, targets = [] } of panels) expect(targets.length > 0, title).toBe(type !== 'row')
  })

  test('its choice of clusters is by a metric that there is', () => {
    expect(templating.list.find(({ name }) => name === 'cluster')!.definition).toBe('label_values(sluice_cluster_up, cluster)')
    expect(METRICS.sluice_cluster_up.labels).toContain('cluster')
  })
})
