import type { Happening, Level, Scenario, TargetState } from './history.ts'

type Effect = Extract<Happening, { type: 'effect' }>
type Change = Extract<Happening, { type: 'target' }>

/** A durable record that this target may be drained, or restored, for a pod. */
export interface Claim {
  at: number
  /** The time when the claim was sent. The reads that it rests on are older. */
  leftAt: number
  entry: number
  uid: string
  /** The ID of the attempt. All claims of one attempt of a pod have one ID. */
  attempt: string
  step: 'drain' | 'patched' | 'restore' | 'closed'
  untouched: boolean
  /** True where another writer had changed the record by then, so that the record does not show earlier steps. */
  isTampered: boolean
  /** True where the claim records the observation of an operator. */
  isSaid: boolean
}

/** The progress of the drain and the restore of one attempt. */
export interface Progress {
  done: 0 | 1 | 2
  /** True where another actor has changed the target since. The next effect corrects that. */
  isDisturbed: boolean
}

export interface Target {
  key: string
  balancer: string
  name: string
  level: Level
  /** The state. Undefined where the entry does not exist. */
  state: TargetState | undefined
  /** The last actor that changed the target. */
  by: 'setup' | 'sluice' | 'operator' | 'reload'
  /** The last sender, where it is a process of sluice. */
  sender: string | undefined
  /** The time when the last change left its sender. */
  leftAt: number
  /** True where sluice has drained the target, and it was not put back since. */
  isDrained: boolean
  /** True where the target was left drained on purpose, since no pod was to come in the place of its pod. */
  isLeftOut: boolean
  /** The entry of its last drain by sluice. */
  drainEntry: number
  changedAt: number
  /** The entry of its last change. */
  entry: number
  /** The time when the target last began to get requests again. */
  returnedAt: number
  /** The time when the target was last taken out, and the time when that change was sent. */
  leave: { at: number; sentAt: number } | undefined
  /** The time when the last refused drain was sent. */
  refusedAt: number | undefined
  /** True where the target was home and not drained at the last change by another actor. */
  wasHome: boolean
  /** The states that count as home: the state before the drain, and the later wishes of an operator. */
  homes: TargetState[]
  claims: Claim[]
  progress: Map<string, Progress>
  /** Set where a call came later than its level allows: the guarantees are weaker since. */
  late: 'mended' | 'unseen' | undefined
  /** Operation → time at which it was done, as a G2 remembers it. -Infinity where it is forgotten. */
  done: Map<string, number>
  /** The calls that have arrived. */
  arrived: Set<string>
}

export interface Targets {
  all: Map<string, Target>
  of(balancer: string, name: string): Target
  at(address: string): Target[]
  claim(balancer: string, name: string, claim: Claim): void
  /** Makes the load balancer forget all operations. */
  forget(balancer: string): void
  apply(entry: Effect | Change, at: number, index: number): void
}

export function createTargets(scenario: Scenario): Targets {
  const all = new Map<string, Target>()

  function of(balancer: string, name: string): Target {
    const key = `${balancer}/${name}`
    let target = all.get(key)
    if (target === undefined) {
      target = {
        key,
        balancer,
        name,
        level: scenario.levels[balancer] ?? 'G1',
        state: undefined,
        by: 'setup',
        sender: undefined,
        leftAt: 0,
        isDrained: false,
        isLeftOut: false,
        drainEntry: 0,
        changedAt: 0,
        entry: 0,
        returnedAt: 0,
        leave: undefined,
        refusedAt: undefined,
        wasHome: true,
        homes: [],
        claims: [],
        progress: new Map(),
        late: undefined,
        done: new Map(),
        arrived: new Set(),
      }
      all.set(key, target)
    }
    return target
  }

  return {
    all,
    of,
    at: (address) => [...all.values()].filter(({ state }) => state?.address === address),
    claim: (balancer, name, claim) => void of(balancer, name).claims.push(claim),
    forget(balancer) {
      for (const target of all.values())
        if (target.balancer === balancer) for (const operation of target.done.keys()) target.done.set(operation, -Infinity)
    },
    apply(entry, at, index) {
      const target = of(entry.balancer, entry.target)
      const { before, after } = entry
      if (entry.type === 'effect' && entry.effect === 'drain' && !entry.accepted) target.refusedAt = entry.leftAt
      if (entry.type === 'effect' && !changes(before!, after!)) {
        // The target is back, as far as sluice may put it back. Its maintenance belongs to the operator.
        if (entry.effect === 'restore' && entry.accepted && before!.admin === 'maint') target.isDrained = false
        return
      }
      // A drain after a reload or an operator's change adds a home. A drain of a target at home replaces the homes. Otherwise they stay.
      if (entry.type === 'effect' && entry.effect === 'drain' && !isTakenOut(target))
        target.homes = isTouched(target) ? [...target.homes, before!] : isHome(target) ? [before!] : target.homes
      if (entry.type === 'target') {
        target.wasHome = !target.isDrained && isHome(target)
        // The state before may still be read, where reads are stale.
        if (before !== null && target.homes.length === 0) target.homes.push(before)
        if (after !== null && entry.by === 'operator') target.homes.push(wish(target, after))
        for (const progress of target.progress.values()) progress.isDisturbed = true
        if (entry.by === 'reload' || after === null || after.admin === 'ready') target.isDrained = false
      } else {
        target.isDrained = entry.effect === 'drain'
        target.isLeftOut = false
        if (target.isDrained) target.drainEntry = index
      }
      const isIn = after?.routable === true
      if (isIn && before?.routable !== true) target.returnedAt = at
      if (!isIn && before?.routable === true) target.leave = { at, sentAt: entry.type === 'effect' ? entry.leftAt : at }
      target.state = after ?? undefined
      target.by = entry.type === 'effect' ? 'sluice' : entry.by
      target.sender = entry.type === 'effect' ? entry.by : undefined
      target.leftAt = entry.type === 'effect' ? entry.leftAt : at
      target.changedAt = at
      target.entry = index
    },
  }
}

/** Reports whether a change affects the balancer's work, rather than only the end of its last request. */
export function changes(before: TargetState, after: TargetState): boolean {
  return before.admin !== after.admin || before.weight !== after.weight || before.address !== after.address
}

/**
 * Returns the state that an operator wants. A change of weight or address of a target that sluice has out does not mean to leave it out.
 */
function wish({ isDrained }: Target, after: TargetState): TargetState {
  return isDrained && after.admin === 'drain' ? { ...after, admin: 'ready' } : after
}

/** Reports whether the target is as before the drain, or as an operator has set it since. */
export function isHome({ state, homes, level }: Target): boolean {
  // A target that cannot be read returns to its configured state in rotation, regardless of an operator's settings.
  const isSame = (home: TargetState): boolean => state?.admin === home.admin && (level === 'G0' || state.weight === home.weight)
  return homes.length === 0 || homes.some(isSame) || (level === 'G0' && state?.admin === 'ready')
}

/** Reports whether the last change was made by an operator or a reload. */
export function isTouched({ by }: Target): boolean {
  return by === 'operator' || by === 'reload'
}

/** Reports whether an operator or a reload made the last change, after that entry or at or after that time. */
export function isTouchedSince(target: Target, entry: number, at: number): boolean {
  return isTouched(target) && (target.entry > entry || target.changedAt >= at)
}

/** Reports whether the target is out and sluice took it out. */
export function isTakenOut(target: Target): boolean {
  return target.isDrained && target.state?.routable === false && !isHome(target)
}

/** Reports whether the target is out and another actor took it out. */
export function isHeldOut(target: Target): boolean {
  return target.state?.routable === false && !isTakenOut(target)
}

/**
 * Returns the claim that allowed an effect when it left, or else the last claim. A target that was drained for a pod that is gone may be
 * claimed for that pod and for its replacement.
 */
export function claimAt({ claims }: Target, at: number, effect: 'drain' | 'restore'): Claim | undefined {
  const until = claims.filter((claim) => claim.at <= at)
  const isNewest = (claim: Claim): boolean => until.findLast(({ uid }) => uid === claim.uid) === claim
  return until.findLast((claim) => isNewest(claim) && !claim.untouched && allows(claim, effect)) ?? until.at(-1)
}

export function allows({ step }: Claim, effect: 'drain' | 'restore'): boolean {
  return effect === 'drain' ? step === 'drain' || step === 'patched' : step === 'restore'
}
