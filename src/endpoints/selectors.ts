import { hasLabels } from '../pods/label-selector.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Pod, Service } from './objects.ts'

/** The controllers make its endpoints. An empty selector is stored as none. */
export function hasSelector({ spec: { type, selector = {} } }: Pick<Service, 'spec'>): boolean {
  return type !== 'ExternalName' && Object.keys(selector).length > 0
}

/** Of a Service that has a selector. */
export function selects({ spec: { selector = {} } }: Service, { metadata: { labels = {} } }: Pod): boolean {
  return hasLabels(labels, selector)
}

/** The labels that the selector wants, and the pod has not, or otherwise. */
export function lackedLabels(
  { spec: { selector = {} } }: Service,
  { metadata: { labels = {} } }: Pod,
): ReasonOf<'selector-differs'>['labels'] {
  return Object.entries(selector).flatMap(([name, wanted]) => {
    const value = labels[name]
    return value === wanted ? [] : [{ name, wanted, ...(value === undefined ? {} : { value }) }]
  })
}
