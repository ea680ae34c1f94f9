import type { AwayReason } from '../../sync/model.ts'
import type {
  SourceProblem,
  SourceProblemCode,
  SourceProblemFields,
  SyncProblem,
  SyncProblemCode,
  SyncProblemFields,
} from '../../sync/problems.ts'
import type { OfSlice, SyncEvent, SyncSnapshot } from '../../sync/sync-run.ts'
import { formatElapsed } from '../elapsed.ts'
import { lagWords } from './observe.ts'
import { shellQuote } from './shell-quote.ts'
import { agreeing, type Writing } from './writing.ts'

/* The English of `sluice sync`: a line for each event, and for each problem the facts and the way to correct it. */

/** The Service of the access cluster that a problem is about. */
export interface OfService {
  readonly namespace: string
  readonly name: string
}

interface Words<Facts> {
  message(facts: Readonly<Facts>, of: OfService, write: Writing): string
  /** How to correct it. */
  hint(facts: Readonly<Facts>, of: OfService, write: Writing): string
}

const LACKS = { namespace: 'namespace', service: 'Service' }
const SHOWN = 5

function some(all: readonly string[], count: number = all.length): string {
  const shown = all.slice(0, SHOWN).join(', ')
  return count > SHOWN ? `${shown} and ${count - SHOWN} more` : shown
}

function someOrNone(all: readonly string[]): string {
  return all.length === 0 ? 'none' : some(all)
}

function portNames(names: readonly string[]): string {
  const given = names.filter((name) => name !== '')
  const parts = [
    ...(given.length === 0 ? [] : [`${agreeing(given, 'the port', 'the ports')} ${some(given)}`]),
    ...(given.length < names.length ? ['a port without a name'] : []),
  ]
  return parts.length === 0 ? 'no port' : parts.join(' and ')
}

/** Why a source is away. */
export function awayWords(away: AwayReason, write: Writing): string {
  switch (away.is) {
    case 'unconnected':
      return `there is no way to it: ${write.reason(away.because)}`
    case 'unanswered':
      return `it does not answer: ${write.reason(away.because)}`
    case 'refused':
      return `it refuses to list and watch ${away.what}: ${write.reason(away.because)}`
  }
}

export const syncProblemWords: { readonly [C in SyncProblemCode]: Words<SyncProblemFields[C]> } = {
  'namespace-missing': {
    message: (_, { namespace }) => `the access cluster has no namespace ${namespace}`,
    hint: (_, { namespace }) => `make it in the access cluster, and sync goes on: kubectl create namespace ${namespace}`,
  },
  'service-missing': {
    message: (_, { namespace, name }) => `the access cluster has no Service ${namespace}/${name}`,
    hint: () => 'make it without a selector, or set "create: true" for it in the config',
  },
  'service-unmade': {
    message: (_, { namespace, name }) =>
      `the access cluster has no Service ${namespace}/${name}, and no source has one that it could be made from`,
    hint: () => 'sync makes it from the ports of the first source that has it',
  },
  'service-has-selector': {
    message: ({ selector }, { namespace, name }) =>
      `Service ${namespace}/${name} of the access cluster has a selector (${Object.entries(selector)
        .map(([key, value]) => `${key}=${value}`)
        .join(', ')}): no address is added to its copies`,
    hint: (_, { namespace, name }) =>
      `its pods would be mixed with the copies; remove the selector: kubectl -n ${namespace} patch service ${name} --type=json -p '[{"op":"remove","path":"/spec/selector"}]'`,
  },
  'service-external-name': {
    message: (_, { namespace, name }) => `Service ${namespace}/${name} of the access cluster has the type ExternalName`,
    hint: () => 'such a Service is a name in DNS, and has no endpoints: make it with the type ClusterIP, without a selector',
  },
  'ports-unserved': {
    message: ({ source, ports, has }, { namespace, name }) =>
      `Service ${namespace}/${name} of the access cluster has ${portNames(ports)}, which no copy of source ${source} has: the copies have ${portNames(has)}`,
    hint: () =>
      'a Service finds the ports of its endpoints by their names: give the ports the same names in the source and in the access cluster',
  },
  'family-unserved': {
    message: ({ source, family, count }, { namespace, name }) =>
      `Service ${namespace}/${name} of the access cluster has no ${family} address, and gives no traffic to ${count} ${family} ${agreeing(count, 'copy', 'copies')} of source ${source}`,
    hint: () => 'set ipFamilyPolicy: PreferDualStack for it, where the access cluster has both families',
  },
  'source-external-name': {
    message: ({ source }, { namespace, name }) => `Service ${namespace}/${name} of source ${source} has the type ExternalName`,
    hint: ({ source }) =>
      `such a Service is a name in DNS, and has no endpoints: take ${source} out of its sources in the config`,
  },
  'ports-differ': {
    message: ({ source, ports, first, firstPorts }, { namespace, name }) =>
      `Service ${namespace}/${name} has other ports in source ${source} than in source ${first}: ${someOrNone(ports)} against ${someOrNone(firstPorts)}`,
    hint: () => 'the copies have the ports of their source; give the Service the same ports in both',
  },
  'addresses-twice': {
    message: ({ source, first, addresses, count }) =>
      `source ${source} has ${agreeing(count, 'an address', 'addresses')} that source ${first} has too: ${some(addresses, count)}; the ${agreeing(count, 'copy is that', 'copies are those')} of ${first}`,
    hint: () =>
      'the networks of the pods overlap, so that an address leads to one of two pods: give the clusters different networks',
  },
  'addresses-uncopied': {
    message: ({ source, slices }) =>
      `${agreeing(slices, 'an EndpointSlice', 'EndpointSlices')} of source ${source} cannot be copied: ${some(slices)}`,
    hint: () => 'an EndpointSlice is copied if its addresses are IPv4 or IPv6',
  },
  'source-without': {
    message: ({ source, lacks }, { namespace, name }) =>
      `source ${source} has no ${LACKS[lacks]} ${lacks === 'namespace' ? namespace : `${namespace}/${name}`}`,
    hint: ({ source }) => `it has no copies from there; if that is right, take ${source} out of its sources in the config`,
  },
  'source-unnamed': {
    message: ({ source, slices, unknown }) =>
      `the config does not name source ${source}, whose ${agreeing(slices, 'EndpointSlice is', 'EndpointSlices are')} kept for now: ${some(slices)}; nothing is known yet of ${some(unknown)}`,
    hint: ({ unknown }) =>
      `the copies go once each source of the config answers, since the source may have got another name: bring back ${some(unknown)}, or take it out of the config`,
  },
  'source-away': {
    message: ({ source, because }, _, write) => `source ${source} is away: ${awayWords(because, write)}`,
    hint: () => 'its copies stay as they are for as long as "whenAway" of the config says',
  },
  'source-expired': {
    message: ({ source }) => `the copies of source ${source}, which is away, are removed`,
    hint: () => 'they come back once the source answers',
  },
  'kept-for-floor': {
    message: ({ source, ready, floor }) =>
      `the copies of source ${source} would be removed by now, and are kept: the other sources have ${ready} ready ${agreeing(ready, 'endpoint', 'endpoints')}, and the floor is ${floor}`,
    hint: () => 'bring the source back, or more ready pods of the other sources; requests to the copies may be lost',
  },
  'source-replaced': {
    message: ({ source }) => `the cluster of source ${source} was made anew; the copies from the former one are kept for now`,
    hint: () => 'they go once the new cluster has a ready endpoint of the Service, or after "replacedAfter" of the config',
  },
  'foreign-slice': {
    message: ({ slice, manager }, { namespace }) =>
      `EndpointSlice ${namespace}/${slice} has the name of a copy and belongs to ${manager ?? 'another writer'}`,
    hint: ({ slice }, { namespace }) =>
      `sync does not change it; look at it, and delete it if it is a leftover: kubectl -n ${namespace} get endpointslice ${slice} -o yaml --show-managed-fields`,
  },
  'other-sync': {
    message: ({ instance, slices }, { namespace, name }) =>
      `the sync of the Lease ${instance} has ${agreeing(slices, 'an EndpointSlice', 'EndpointSlices')} of Service ${namespace}/${name} too: ${some(slices)}`,
    hint: ({ slices }, { namespace }) =>
      `sync leaves them as they are, and the Service has the endpoints of both: take it out of one of the configs. Where the other sync is gone, this one takes over: kubectl -n ${namespace} annotate endpointslices ${slices.join(' ')} sync.sluice.dev/instance-`,
  },
  'altered-by-admission': {
    message: ({ slices }) =>
      `the access cluster stores ${agreeing(slices, 'a copy', 'copies')} otherwise than written: ${some(slices)}`,
    hint: () =>
      'a mutating webhook or policy of the access cluster changes EndpointSlices: exclude those with the label endpointslice.kubernetes.io/managed-by of sluice',
  },
  'write-failed': {
    message: ({ slice, because }, _, write) =>
      `${slice === undefined ? 'a write to the access cluster' : `the write of EndpointSlice ${slice}`} has failed: ${write.reason(because)}`,
    hint: () => 'it is tried again until it succeeds',
  },
}

export const sourceProblemWords: { readonly [C in SourceProblemCode]: Words<SourceProblemFields[C]> } = {
  'pods-unread': {
    message: ({ because }, _, write) => `its pods cannot be read: ${write.reason(because)}`,
    hint: () =>
      'a pod under upgrade leaves by its readiness alone, some moments later; the rest is copied as before. Where a right is missing, sluice rbac -n NAMESPACE --for sync-source prints it',
  },
  'identity-unread': {
    message: ({ because }, _, write) => `its namespace kube-system may not be read: ${write.reason(because)}`,
    hint: () =>
      'a cluster that was made anew is not told from one that lost its pods: sluice rbac -n NAMESPACE --for sync-source prints the rights',
  },
}

export function problemMessage(problem: SyncProblem, of: OfService, write: Writing): string {
  return wordsOf<Words<SyncProblem>>(syncProblemWords, problem.code).message(problem, of, write)
}

export function problemHint(problem: SyncProblem, of: OfService, write: Writing): string {
  return wordsOf<Words<SyncProblem>>(syncProblemWords, problem.code).hint(problem, of, write)
}

/** EndpointSlices of sync for a Service that the config does not name. */
export function leftBehindMessage({ namespace, service, slices }: SyncSnapshot['leftBehind'][number]): string {
  return `the config does not name Service ${namespace}/${service}, which has ${agreeing(slices, 'an EndpointSlice', 'EndpointSlices')} of sync: ${some(slices)}`
}

export function leftBehindHint({ namespace, slices }: SyncSnapshot['leftBehind'][number]): string {
  return `traffic goes on to their addresses, which follow no source. Where no other sync writes them, delete them: ${shellQuote(['kubectl', '-n', namespace, 'delete', 'endpointslices', ...slices])}`
}

/** The words stand for the source; they name no Service. */
const NO_SERVICE: OfService = { namespace: '', name: '' }

export function sourceProblemMessage(problem: SourceProblem, write: Writing): string {
  return wordsOf<Words<SourceProblem>>(sourceProblemWords, problem.code).message(problem, NO_SERVICE, write)
}

export function sourceProblemHint(problem: SourceProblem, write: Writing): string {
  return wordsOf<Words<SourceProblem>>(sourceProblemWords, problem.code).hint(problem, NO_SERVICE, write)
}

/** The compiler does not relate the code of a problem to the words for it. */
function wordsOf<W>(words: object, code: string): W {
  return (words as Record<string, W>)[code]!
}

const EFFECT = { create: 'made', update: 'changed', delete: 'deleted' }
const MEMBER = { listing: 'is being listed', current: 'is followed', away: 'is away' }

function sliceWords({ namespace, service, source, slice }: OfSlice): string {
  return `${namespace}/${service} from ${source}: EndpointSlice ${slice}`
}

/** A line for an event of a run. */
export function syncEventWords(event: SyncEvent, write: Writing): string {
  switch (event.type) {
    case 'leader':
      return event.isLeader ? 'this process leads, and writes' : 'this process does not lead, and waits'
    case 'lease-awaited':
      return `Lease ${event.lease} is waited for: it is taken once no other process has renewed it for ${formatElapsed(event.afterMs)}`
    case 'lease-failed':
      return `Lease ${event.lease} cannot be read or written, so that this process may not lead: ${write.reason(event.because)}`
    case 'source':
      return `source ${event.source} ${event.because === undefined ? MEMBER[event.is] : `is away: ${awayWords(event.because, write)}`}`
    case 'access':
      return `the access cluster ${MEMBER[event.is]}${event.because === undefined ? '' : `: ${write.reason(event.because)}`}`
    case 'written': {
      const { lag, endpoints } = event
      const whole = lag && lag.decideMs + lag.sendMs + lag.acceptMs
      const after = whole === undefined ? '' : `, ${lagWords(Math.round(whole))} after the change was seen`
      return `${sliceWords(event)} is ${EFFECT[event.effect]}, ${endpoints} ${agreeing(endpoints, 'endpoint', 'endpoints')}${after}`
    }
    case 'write-failed':
      return `${sliceWords(event)} is not ${EFFECT[event.effect]}, and is tried again in ${formatElapsed(event.againInMs)}: ${write.reason(event.because)}`
    case 'put-right':
      return `${sliceWords(event)} was ${event.was} by another writer, and is put right`
    case 'service-made':
      return `Service ${event.namespace}/${event.service} is made in the access cluster, as it is in ${event.from}`
    case 'problem': {
      const of = { namespace: event.namespace, name: event.service }
      const what = `${of.namespace}/${of.name}: ${problemMessage(event.problem, of, write)}`
      return event.is === 'begun' ? what : `no more: ${what}`
    }
    case 'source-problem': {
      const what = `source ${event.source}: ${sourceProblemMessage(event.problem, write)}`
      return event.is === 'begun' ? what : `no more: ${what}`
    }
  }
}

/** The command that shows what the access cluster has of a Service. */
export function copiesCommand({ namespace, name }: OfService): string {
  return shellQuote(['kubectl', '-n', namespace, 'get', 'endpointslices', '-l', `kubernetes.io/service-name=${name}`])
}
