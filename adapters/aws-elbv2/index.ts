/**
 * Target groups of AWS Application and Network Load Balancers: a drain deregisters the address of the pod, and a restore registers it
 * again.
 */
import type { TargetDescription } from '@aws-sdk/client-elastic-load-balancing-v2'
import { AdapterError, type EffectResult } from '../contract.ts'
import { type ChangeCall, defineAdapter, type Entry, type Former, type ListCall, resultKey } from '../define-adapter.ts'
import { durationMs } from '../option-fields.ts'
import { waitUntilTaken } from '../wait-until-taken.ts'
import { createElbv2Client } from './client.ts'
import { isForOneTarget } from './errors.ts'
import { elbv2Options } from './options.ts'
import { loadSdk } from './sdk.ts'
import { entryOf, healthCheckOf, isRegistered, NoPodsError, targetOf } from './target-group.ts'

/** The maximum number of targets in one request, as in the controller of AWS. */
const BATCH_MAX = 200
/** The minimum duration of a deregistration, in milliseconds. A Network Load Balancer needs two minutes, even with a shorter delay. */
const SHORTEST_DEREGISTRATION_MS = 120_000
/** The time from the end of the delay until the target group shows it, in milliseconds. */
const SHOWN_AFTER_MS = 60_000
/** The time until every read shows a change, in milliseconds. AWS answers a change before that. */
const TAKEN_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 250
const DELAY_FRESH_MS = 60_000
const DELAY = 'deregistration_delay.timeout_seconds'

export const awsElbv2 = defineAdapter({
  name: 'aws-elbv2',
  summary: 'AWS Application and Network Load Balancers, by target groups of IP addresses.',
  options: elbv2Options,
  example: {
    targetGroups: ['arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/0123456789abcdef'],
    deregistrationDelay: '60s',
  },
  capabilities: ({ settle, deregistrationDelay }) => ({
    guarantee: 'G1',
    maxBatch: BATCH_MAX,
    inspect: 'strong',
    inFlight: 'none',
    volatileOnReload: false,
    settleMs: durationMs(settle),
    longestEmptyingMs: Math.max(SHORTEST_DEREGISTRATION_MS, durationMs(deregistrationDelay)) + SHOWN_AFTER_MS,
  }),
  prepare: (options, { folder = process.cwd() }) => void loadSdk(options, folder),
  open(options, { component, folder }) {
    const { targetGroups, deregistrationDelay } = options
    const client = createElbv2Client({ ...options, component, folder })
    /** The time until which the delay of a target group counts as short enough, by target group. */
    const isShortUntil = new Map<string, number>()

    const fatal = (arn: string, why: string): AdapterError => new AdapterError(component, 'fatal', `${arn}: ${why}`)

    /**
     * Checks that the delay of the target group is not longer than in the config, because a drain would then exceed its deadline. A restore
     * does not depend on the delay.
     */
    async function assertDelay(arn: string, call: ListCall): Promise<void> {
      const now = performance.now()
      if ((isShortUntil.get(arn) ?? 0) > now) return
      const { Attributes = [] } = await client.send('DescribeTargetGroupAttributes', { TargetGroupArn: arn }, call)
      const seconds = Number(Attributes.find(({ Key }) => Key === DELAY)?.Value)
      if (seconds * 1_000 > durationMs(deregistrationDelay))
        throw fatal(arn, `its ${DELAY} is ${seconds}, and deregistrationDelay says ${deregistrationDelay}: make it ${seconds}s`)
      isShortUntil.set(arn, now + DELAY_FRESH_MS)
    }

    /** The entries of all targets of a group, or of these targets. */
    async function entriesOf(arn: string, call: ListCall, targets?: TargetDescription[]): Promise<Entry[]> {
      const asked = { TargetGroupArn: arn, ...(targets && { Targets: targets }) }
      const { TargetHealthDescriptions: healths = [] } = await client.send('DescribeTargetHealth', asked, call)
      try {
        // The list may also have the former state of a target that is registered again. The registered state wins.
        const inOrder = healths.toSorted((a, b) => Number(isRegistered(a)) - Number(isRegistered(b)))
        return [...new Map(inOrder.map((health) => entryOf(arn, health)).map((entry) => [entry.name, entry])).values()]
      } catch (error) {
        if (error instanceof NoPodsError) throw fatal(arn, error.message)
        throw error
      }
    }

    /** Sends one request for all targets. Resolves when the target group shows the change. */
    async function send(
      action: 'RegisterTargets' | 'DeregisterTargets',
      arn: string,
      targets: TargetDescription[],
      call: ChangeCall,
    ): Promise<void> {
      await client.send(action, { TargetGroupArn: arn, Targets: targets }, call)
      const state = action === 'RegisterTargets' ? 'in' : 'draining'
      const asked = targets.map(({ Id, Port }) => ({ Id, Port }))
      async function whyNotTaken(): Promise<string | undefined> {
        const entries = await entriesOf(arn, call, asked)
        const late = entries.find((entry) => entry.state !== state)
        if (late === undefined && entries.length === asked.length) return undefined
        return `${action} is accepted, and the target group does not show it: ${late?.detail ?? arn}`
      }
      await waitUntilTaken(whyNotTaken, { component, withinMs: TAKEN_WITHIN_MS, everyMs: LOOK_EVERY_MS, signal: call.signal })
    }

    async function register(formers: readonly Former[], call: ChangeCall): Promise<Map<string, EffectResult>> {
      const arn = formers[0]!.entry.scope!
      const keys = formers.map(({ entry }) => resultKey(entry))
      try {
        await send(
          'RegisterTargets',
          arn,
          formers.map(({ entry, prior }) => targetOf(entry, prior)),
          call,
        )
        return new Map(keys.map((key) => [key, { outcome: 'applied' }]))
      } catch (error) {
        if (!(error instanceof AdapterError)) throw error
        if (formers.length === 1 || !isForOneTarget(error)) return new Map(keys.map((key) => [key, { outcome: 'failed', error }]))
        const alone = new Map<string, EffectResult>()
        for (const former of formers) for (const [key, result] of await register([former], call)) alone.set(key, result)
        return alone
      }
    }

    /** The error for a restore during the deregistration. AWS registers an IP address again only after its deregistration. */
    function isTooEarly({ entry: { name, detail } }: Former): EffectResult {
      const message = `${name} can be registered once its deregistration is over: ${detail}`
      return { outcome: 'failed', error: new AdapterError(component, 'retryable', message) }
    }

    const deregister = (entries: readonly Entry[], call: ChangeCall): Promise<void> =>
      send(
        'DeregisterTargets',
        entries[0]!.scope!,
        entries.map((entry) => targetOf(entry, entry.prior)),
        call,
      )

    return {
      scopes: targetGroups,
      async list(call) {
        const asked = call.scopes === undefined ? targetGroups : targetGroups.filter((arn) => call.scopes!.includes(arn))
        const entries = await Promise.all(asked.map((arn) => entriesOf(arn, call)))
        return entries.flat()
      },
      async missing(gone, call) {
        const ofGroups = [...Map.groupBy(gone, ({ scope }) => scope)].filter(([arn]) => targetGroups.includes(arn ?? ''))
        const entries = await Promise.all(
          ofGroups.map(([arn, some]) =>
            entriesOf(
              arn!,
              call,
              some.map(({ address, port }) => ({ Id: address, Port: port })),
            ),
          ),
        )
        return entries.flat()
      },
      async drain(entries, call) {
        await assertDelay(entries[0]!.scope!, call)
        await deregister(entries, call)
      },
      async restore(formers, call) {
        const results = new Map<string, EffectResult>()
        const {
          back = [],
          out = [],
          early = [],
        } = Object.groupBy(formers, ({ entry, state }) => (state !== 'in' ? 'out' : entry.emptying ? 'early' : 'back'))
        for (const former of early) results.set(resultKey(former.entry), isTooEarly(former))
        if (back.length > 0) for (const [key, result] of await register(back, call)) results.set(key, result)
        if (out.length === 0) return results
        const entries = out.map(({ entry }) => entry)
        await deregister(entries, call)
        for (const entry of entries) results.set(resultKey(entry), { outcome: 'applied' })
        return results
      },
      async healthChecks(call) {
        const { TargetGroups = [] } = await client.send('DescribeTargetGroups', { TargetGroupArns: [...targetGroups] }, call)
        return TargetGroups.flatMap(healthCheckOf).toSorted((a, b) => a.everyMs * a.failures - b.everyMs * b.failures)
      },
      close: () => client.close(),
    }
  },
})
