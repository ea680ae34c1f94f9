/**
 * The schema of the config file. Each error message may have a second line: the hint. `docs/config.schema.json` is generated from these
 * schemas (json-schema.ts), including the descriptions.
 */
import { z } from 'zod'
import { DURATION_PATTERN, parseDuration } from './duration.ts'
import { parseMaxUnavailable } from './max-unavailable.ts'
import { show } from './show.ts'

interface DurationLimits {
  atLeastMs: number
  what: string
}

const POSITIVE: DurationLimits = { atLeastMs: 1, what: 'a deadline of 0 would always have passed' }
const FROM_ZERO: DurationLimits = { atLeastMs: 0, what: '' }

/** A duration: a text such as `60s` in the file, a number of milliseconds in the result. */
function duration({ atLeastMs, what }: DurationLimits, description: string) {
  return z
    .string({
      error: ({ input }) => {
        const parsed = parseDuration(input)
        return parsed.ok ? undefined : `${parsed.reason}\n${parsed.hint}`
      },
    })
    .transform((text, context) => {
      const parsed = parseDuration(text)
      if (!parsed.ok) context.addIssue(`${parsed.reason}\n${parsed.hint}`)
      else if (parsed.ms < atLeastMs) context.addIssue(`${JSON.stringify(text)} is too short\n${what}`)
      else return parsed.ms
      return z.NEVER
    })
    .meta({ description, pattern: DURATION_PATTERN })
}

function maxUnavailableMessage({ input }: { input?: unknown }): string {
  const parsed = parseMaxUnavailable(input)
  return parsed.ok ? 'is not understood' : `${parsed.reason}\n${parsed.hint}`
}

const maxUnavailable = z
  .union([z.int().min(1, { error: maxUnavailableMessage }), z.string()], { error: maxUnavailableMessage })
  .transform((input, context) => {
    const parsed = parseMaxUnavailable(input)
    if (parsed.ok) return parsed.value
    context.addIssue(maxUnavailableMessage({ input }))
    return z.NEVER
  })
  .meta({
    description:
      'How many pods may be out of rotation at once: a number, or a share such as "25%", rounded down, at least one. ' +
      'All other pods must carry the whole load meanwhile.',
  })

const HIGHEST_PORT = 65_535
/** IANA service name, which Kubernetes requires as the name of a container port. */
const PORT_NAME = /^(?=.*[a-z])[a-z0-9](?:-?[a-z0-9]){0,14}$/

function portMessage({ input }: { input?: unknown }): string {
  const hint = `write the container port, from 1 to ${HIGHEST_PORT}, or its name in the pod`
  if (input === undefined) return `is missing\n${hint}`
  if (typeof input === 'string' && /^\d+$/.test(input)) return `${show(input)} is text\nwrite ${input} without quotes`
  return `${show(input)} is not a port\n${hint}`
}

const port = z
  .union(
    [
      z.int().min(1, { error: portMessage }).max(HIGHEST_PORT, { error: portMessage }),
      z.string().regex(PORT_NAME, { error: portMessage }),
    ],
    { error: portMessage },
  )
  .meta({ description: 'Container port that the load balancer sends traffic to, by number or by name.' })

/** DNS label, which Kubernetes requires as the name of a namespace and of a container. */
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

export const loadBalancerSchema = z
  .strictObject({
    name: z
      .string()
      .regex(DNS_LABEL, {
        error: ({ input }) =>
          `${show(input)} cannot be a name\nuse up to 63 lower-case letters, digits and "-", with no "-" at the ends`,
      })
      .meta({
        description: 'Your name for it. It is kept in the journal of pods, so a later run must find it under the same name.',
      }),
    adapter: z.string().min(1).meta({ description: 'The kind of load balancer.' }),
    port,
    rate: z
      .strictObject({
        calls: z.int().min(1).meta({ description: 'So many calls may begin in the time of `per`.' }),
        per: duration(POSITIVE, 'The time in which `calls` may begin, such as 1s.'),
        account: z.string().min(1).optional().meta({
          description: 'Load balancers of one account share its rate. Default: the load balancer has a rate of its own.',
        }),
      })
      .optional()
      .meta({ description: 'A budget for the calls of this process, for an API that is paid or limited. Absent: none.' }),
    lock: z
      .strictObject({
        namespace: z
          .string()
          .regex(DNS_LABEL, {
            error: ({ input }) => `${show(input)} is no namespace\nuse small letters, digits and "-", such as release`,
          })
          .meta({
            description: 'Where the Lease is.',
          }),
        key: z
          .string()
          .min(1)
          .optional()
          .meta({
            description:
              'What names the document, the same for all that write it, such as its URL or path. Default: what the adapter knows, such as ' +
              'its url.',
          }),
        kubeconfig: z.string().min(1).optional().meta({
          description: 'The kubeconfig of the cluster that has the Lease; a path is beside the config. Default: as for context.',
        }),
        context: z
          .string()
          .min(1)
          .optional()
          .meta({
            description:
              'The cluster that has the Lease, by a context of the kubeconfig. Default: the cluster of the run. Sluices of several clusters ' +
              'exclude each other where they name the same one.',
          }),
      })
      .optional()
      .meta({
        description:
          'A Lease that is held for each change, so that one sluice at a time writes a document that has no version of its own.',
      }),
    options: z.record(z.string(), z.unknown()).optional().meta({
      description: "The adapter's own settings. Secrets are never written here: adapters take a file or an environment variable.",
    }),
  })
  .meta({ description: 'One load balancer in front of the pods.' })

const CONTAINER_NAME_HINT = 'write the name of a container as it stands in the pod, such as log-agent'

const drainSchema = z
  .strictObject({
    deadline: duration(POSITIVE, 'How long a pod may take until nothing is in flight any more. Default 60s.').prefault('60s'),
    onDeadline: z
      .enum(['fail', 'proceed'])
      .default('fail')
      .meta({
        description:
          'What happens when requests are still in flight at the deadline. "fail" puts the untouched pod back and stops. ' +
          '"proceed" upgrades the pod all the same: what is in flight then is cut.',
      }),
    settle: duration(
      FROM_ZERO,
      'How long to wait after the load balancer has confirmed the drain. Absent: what the adapter knows of its kind. ' +
        '0s trusts the confirmation alone.',
    ).optional(),
    order: z
      .array(z.string())
      .optional()
      .meta({
        description:
          'Names of loadBalancers, of which each is drained once those before it have confirmed that a pod is out, and which put it back ' +
          'in reverse. Load balancers that are not named come last, together. Absent: all at once.',
      }),
    notFor: z
      .array(
        z.string().regex(DNS_LABEL, {
          error: ({ input }) => `${show(input)} cannot be the name of a container\n${CONTAINER_NAME_HINT}`,
        }),
      )
      .optional()
      .meta({
        description:
          'Names of containers, such as those of log agents: a change of these alone needs no drain. The pod stays in rotation while they ' +
          'restart. Name none that requests go through, such as the proxy of a mesh. Absent: none.',
      }),
  })
  .meta({ description: 'Taking a pod out of rotation.' })

const rolloutSchema = z
  .strictObject({
    maxUnavailable: maxUnavailable.prefault(1),
    readyFor: duration(
      FROM_ZERO,
      'How long a restarted pod must stay ready before it is put back. minReadySeconds of its workload counts where it is longer. ' +
        'Default 0s: at once.',
    ).prefault('0s'),
    onFailure: z
      .enum(['hold', 'rollback'])
      .default('hold')
      .meta({
        description:
          'What becomes of a pod that fails after its patch. "hold" keeps it out of rotation as it is. "rollback" patches it ' +
          'back to its former images and puts it back. Either way no further pod is started.',
      }),
  })
  .meta({ description: 'How the run goes over the pods.' })

const deadlinesSchema = z
  .strictObject({
    restart: duration(
      POSITIVE,
      "From the end of the pod's grace period until the new container is proven to run, image pull included. Default 5m.",
    ).prefault('5m'),
    rollback: duration(
      POSITIVE,
      'In place of restart on the way back to the former images (onFailure: rollback, and sluice undo). The kubelet holds back a container that ' +
        'ended shortly before, for up to 5 minutes. Default 10m.',
    ).prefault('10m'),
    ready: duration(
      POSITIVE,
      'From the restart until the pod has been ready for readyFor, and for minReadySeconds of its workload. Default 10m.',
    ).prefault('10m'),
    restore: duration(POSITIVE, 'Until the load balancers confirm that the pod is back as it was. Default 1m.').prefault('1m'),
  })
  .meta({ description: 'How long each state of a pod may last. What fires is named in the result.' })

export const API_VERSION = 'sluice.dev/v1'

export const configSchema = z
  .strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal('Config'),
    loadBalancers: z.array(loadBalancerSchema).min(1).meta({ description: 'The load balancers in front of the pods.' }),
    drain: drainSchema.prefault({}),
    rollout: rolloutSchema.prefault({}),
    deadlines: deadlinesSchema.prefault({}),
  })
  .meta({ title: 'sluice.yaml', description: 'The config of sluice.' })
