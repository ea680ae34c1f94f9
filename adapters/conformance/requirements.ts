/** The requirements of a case: parts of the bed, or capabilities of the adapter. A case does not apply if one of them is missing. */
import type { PartialBed } from './bed.ts'

export type Requirement =
  | 'drain'
  | 'endpoint'
  | 'second-endpoint'
  | 'traffic'
  | 'keep-alive'
  | 'wire'
  | 'restart'
  | 'maintenance'
  | 'weights'
  | 'weight-0'
  | 'absent'
  | 'health-checks'
  | 'rights'
  | 'fencing'
  | 'batches'
  | 'forgets'
  | 'keeps'
  | 'undisturbed'

interface Known {
  /** The text for the reader of the results and for the author of the bed. */
  words: string
  isMet(bed: PartialBed): boolean
}

const capabilitiesOf = (bed: PartialBed) => bed.adapter().capabilities

const known: Record<Requirement, Known> = {
  drain: { words: 'needs a server that may be drained (--expendable)', isMet: ({ readOnly }) => readOnly !== true },
  endpoint: { words: 'needs an address behind the load balancer (--target)', isMet: ({ endpoints }) => endpoints.length > 0 },
  'second-endpoint': {
    words: 'needs two addresses behind the load balancer (--target)',
    isMet: ({ endpoints }) => endpoints.length > 1,
  },
  traffic: {
    words: 'needs requests of which it is known where they arrive (traffic of the bed)',
    isMet: ({ traffic }) => traffic !== undefined,
  },
  'keep-alive': {
    words: 'needs clients with kept connections (traffic.keepAlive of the bed)',
    isMet: ({ traffic }) => traffic?.keepAlive !== undefined,
  },
  wire: {
    words: 'needs connections that can be broken (wire of the bed, or --break-connections)',
    isMet: ({ wire }) => wire !== undefined,
  },
  restart: { words: 'needs a restart of the load balancer (restart of the bed)', isMet: ({ restart }) => restart !== undefined },
  maintenance: {
    words: 'needs maintenance that is no drain (operator.maint of the bed)',
    isMet: ({ operator }) => operator.maint !== undefined,
  },
  weights: { words: 'needs weights (operator.weight of the bed)', isMet: ({ operator }) => operator.weight !== undefined },
  'weight-0': {
    words: 'needs a weight of 0 (operator.lowestWeight of the bed)',
    isMet: ({ operator }) => operator.weight !== undefined && (operator.lowestWeight ?? 0) === 0,
  },
  absent: { words: 'needs a target that is not there (absent of the bed)', isMet: ({ absent }) => absent !== undefined },
  'health-checks': {
    words: 'needs health checks (breakHealth of the bed)',
    isMet: ({ breakHealth }) => breakHealth !== undefined,
  },
  rights: { words: 'needs rights that can be missed (powerless of the bed)', isMet: ({ powerless }) => powerless !== undefined },
  fencing: { words: 'needs a load balancer that refuses a lower fence (fencing of the bed)', isMet: ({ fencing }) => fencing },
  batches: { words: 'needs capabilities.maxBatch above 1', isMet: (bed) => capabilitiesOf(bed).maxBatch > 1 },
  forgets: {
    words: 'it forgets nothing (capabilities.volatileOnReload)',
    isMet: (bed) => capabilitiesOf(bed).volatileOnReload,
  },
  keeps: {
    words: 'it forgets what was set (capabilities.volatileOnReload)',
    isMet: (bed) => !capabilitiesOf(bed).volatileOnReload,
  },
  undisturbed: {
    words: 'its changes cut others (capabilities.disruptsOthers)',
    isMet: (bed) => !capabilitiesOf(bed).disruptsOthers,
  },
}

/** The first requirement that the bed does not meet. */
export function lackOf(needs: readonly Requirement[], bed: PartialBed): Requirement | undefined {
  return needs.find((name) => !known[name].isMet(bed))
}

export function requirementWords(name: Requirement): string {
  return known[name].words
}
