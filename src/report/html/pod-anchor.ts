import type { ReportPod } from '../report.ts'
import type { Markup } from './markup.ts'
import { html } from './markup.ts'

/** The place on the page that tells all of a pod. */
export function anchorOf({ uid }: ReportPod): string {
  return `pod-${uid.replace(/[^\w-]/g, '_')}`
}

/** What the filter goes by. */
export function findable({ pod, node, outcome }: ReportPod): Markup {
  return html`data-find="${[pod, node ?? ''].join(' ').toLowerCase()}" data-outcome="${outcome}"`
}
