import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { LabelValues } from './labels.ts'
import {
  commandOf,
  METRICS,
  type MetricDefinition,
  type MetricName,
  type MetricNameOf,
  type MetricsCommand,
} from './metric-list.ts'

type LabelsOf<Name extends MetricName> = Pick<LabelValues, (typeof METRICS)[Name]['labels'][number]>

/** One series of a gauge. */
export interface Sample<Name extends MetricName> {
  labels: LabelsOf<Name>
  value: number
}

/** The metrics of one process. A name or a label that is not in METRICS does not compile. */
export interface Metrics {
  set<Name extends MetricNameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  /** Sets all series of a gauge at once. A series that is not among the samples ends. */
  replace<Name extends MetricNameOf<'gauge'>>(name: Name, samples: readonly Sample<Name>[]): void
  add<Name extends MetricNameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, value?: number): void
  observe<Name extends MetricNameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  contentType: string
  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string>
}

/** Creates the metrics that `command` exports. The other metrics of the list cannot be set there. */
export function createMetrics(command: MetricsCommand): Metrics {
  const registry = new Registry()
  const [gauges, counters, histograms] = [new Map<string, Gauge>(), new Map<string, Counter>(), new Map<string, Histogram>()]
  for (const [name, { type, help, labels, buckets }] of Object.entries<MetricDefinition>(METRICS)) {
    if (commandOf(name) !== command) continue
    const settings = { name, help, labelNames: [...labels], registers: [registry] }
    if (type === 'gauge') gauges.set(name, new Gauge(settings))
    else if (type === 'counter') counters.set(name, new Counter(settings))
    else histograms.set(name, new Histogram({ ...settings, buckets: [...buckets!] }))
  }
  return {
    set(name, labels, value) {
      gauges.get(name)!.set({ ...labels }, value)
    },
    replace(name, samples) {
      const gauge = gauges.get(name)!
      gauge.reset()
      for (const { labels, value } of samples) gauge.set({ ...labels }, value)
    },
    add(name, labels, value = 1) {
      counters.get(name)!.inc({ ...labels }, value)
    },
    observe(name, labels, value) {
      histograms.get(name)!.observe({ ...labels }, value)
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  }
}
