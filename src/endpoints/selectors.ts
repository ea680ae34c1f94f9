import { hasLabels } from '../pods/label-selector.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Pod, Service } from './objects.ts'

/** The controllers make the endpoints of the Service. An empty selector counts as none. */
export function hasSelector({ spec: { type, selector = {} } }: Pick<Service, 'spec'>): boolean {
  return type !== 'ExternalName' && Object.keys(selector).length > 0
}

/** The selector of the Service matches the pod. The Service must have a selector. */
export function selects({ spec: { selector = {} } }: Service, { metadata: { labels = {} } }: Pod): boolean {
  return hasLabels(labels, selector)
}

/** The labels of the selector that the pod lacks, or has with another value. */
export function lackedLabels(
  { spec: { selector = {} } }: Service,
  { metadata: { labels = {} } }: Pod,
): ReasonOf<'selector-differs'>['labels'] {
  return Object.entries(selector).flatMap(([name, wanted]) => {
    const value = labels[name]
    return value === wanted ? [] : [{ name, wanted, ...(value === undefined ? {} : { value }) }]
  })
}
