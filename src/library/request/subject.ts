import type { Subject } from '../../explain/explanation.ts'
import { displayName, displayType, type WorkloadId } from '../../pods/workload-id.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { quote } from './quote.ts'
import { parseRef } from './selection.ts'

export type ParsedSubject =
  | { ok: true; type: Subject['type']; object: string; name: string; ref?: WorkloadId }
  | { ok: false; problem: string }

const SERVICE_TYPES = new Set(['service', 'services', 'svc'])
const SERVICE_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** Reads the name of a pod, a Service or a workload. */
export function parseSubject(text: string, kinds: Kinds = KINDS): ParsedSubject {
  const [type = '', name = '', ...more] = text.split('/')
  if (SERVICE_TYPES.has(type.toLowerCase()) && name !== '' && more.length === 0) {
    if (!SERVICE_NAME.test(name)) return { ok: false, problem: `${quote(text)}: ${quote(name)} cannot be the name of a Service` }
    return { ok: true, type: 'service', object: `service/${name}`, name }
  }
  const read = parseRef(text, { kinds })
  if (read.ok) {
    const { ref } = read
    return { ok: true, type: isPod(ref) ? 'pod' : 'workload', object: displayName(ref), name: ref.name, ref }
  }
  const types = [...kinds.all.map(displayType), 'service']
  return { ok: false, problem: `${quote(text)}: explain takes TYPE/NAME, where TYPE is one of ${types.join(', ')}` }
}
