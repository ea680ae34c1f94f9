import type { ReportPod } from '../report.ts'
import type { Markup } from './markup.ts'
import { html } from './markup.ts'

/** The anchor of the details of a pod. */
export function anchorOf({ uid }: ReportPod): string {
  return `pod-${uid.replace(/[^\w-]/g, '_')}`
}

/** The attributes that the filter reads. */
export function findable({ pod, node, outcome }: ReportPod): Markup {
  return html`data-find="${[pod, node ?? ''].join(' ').toLowerCase()}" data-outcome="${outcome}"`
}
