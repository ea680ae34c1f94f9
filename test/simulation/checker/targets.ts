import type { Happening, Level, Scenario, TargetState } from './history.ts'

type Effect = Extract<Happening, { type: 'effect' }>
type Change = Extract<Happening, { type: 'target' }>

/** A durable word that this target may be drained, or restored, for a pod. */
export interface Claim {
  at: number
  /** When it was sent: what it rests on was read before. */
  leftAt: number
  entry: number
  uid: string
  /** The same for all that is one attempt of one pod. */
  attempt: string
  step: 'drain' | 'patched' | 'restore' | 'closed'
  untouched: boolean
  /** Somebody else had changed the record by then: what came before is not known from it. */
  isTampered: boolean
  /** Written down for a person who has looked. */
  isSaid: boolean
}

/** How far the drain and the restore of one attempt have come. */
export interface Progress {
  done: 0 | 1 | 2
  /** Somebody else has changed the target since: what comes next mends that. */
  isDisturbed: boolean
}

export interface Target {
  key: string
  balancer: string
  name: string
  level: Level
  /** Undefined where the entry is not there. */
  state: TargetState | undefined
  /** Who changed it last. */
  by: 'setup' | 'sluice' | 'operator' | 'reload'
  /** Which process of sluice, where it was one. */
  sender: string | undefined
  /** When that left it. */
  leftAt: number
  /** Sluice has drained it, and nobody has put it back since. */
  isDrained: boolean
  /** What was drained was left so on purpose: nothing was to come in the place of its pod. */
  isLeftOut: boolean
  /** The entry of its last drain by sluice. */
  drainEntry: number
  changedAt: number
  /** The entry that changed it last. */
  entry: number
  /** When it got requests again last. */
  returnedAt: number
  /** When it was taken out last, and when what has done so was sent. */
  leave: { at: number; sentAt: number } | undefined
  /** When the last drain was sent that was not taken. */
  refusedAt: number | undefined
  /** It was home, and not out, when somebody other than sluice changed it last. */
  wasHome: boolean
  /** As it was before sluice took it out, and as an operator has wanted it since. */
  homes: TargetState[]
  claims: Claim[]
  progress: Map<string, Progress>
  /** A call came later than its level can stand: what is promised since is less. */
  late: 'mended' | 'unseen' | undefined
  /** Operation → when it was done, as a G2 remembers it; -Infinity where that is forgotten. */
  done: Map<string, number>
  /** Calls that have arrived. */
  arrived: Set<string>
}

export interface Targets {
  all: Map<string, Target>
  of(balancer: string, name: string): Target
  at(address: string): Target[]
  claim(balancer: string, name: string, claim: Claim): void
  /** The load balancer takes any operation for a new one. */
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
        // Put back, as far as sluice may: whatever becomes of it is the operator's from here on.
        if (entry.effect === 'restore' && entry.accepted && before!.admin === 'maint') target.isDrained = false
        return
      }
      // What it has to come back to. Drained again after a reload or an operator: to either; put back as something else: as before.
      if (entry.type === 'effect' && entry.effect === 'drain' && !isTakenOut(target))
        target.homes = isTouched(target) ? [...target.homes, before!] : isHome(target) ? [before!] : target.homes
      if (entry.type === 'target') {
        target.wasHome = !target.isDrained && isHome(target)
        // What it was before may have been read still, where reads are not of this moment.
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

/** It changes what the balancer does, not only when its last request ends. */
export function changes(before: TargetState, after: TargetState): boolean {
  return before.admin !== after.admin || before.weight !== after.weight || before.address !== after.address
}

/** What an operator wants of it. Who gives a weight or an address to what sluice has out, or gives it back, does not want it out. */
function wish({ isDrained }: Target, after: TargetState): TargetState {
  return isDrained && after.admin === 'drain' ? { ...after, admin: 'ready' } : after
}

/** As it was before it was drained, or as an operator has set it since. */
export function isHome({ state, homes, level }: Target): boolean {
  // What cannot be read comes back as it is configured, and in rotation, whatever an operator had set.
  const isSame = (home: TargetState): boolean => state?.admin === home.admin && (level === 'G0' || state.weight === home.weight)
  return homes.length === 0 || homes.some(isSame) || (level === 'G0' && state?.admin === 'ready')
}

/** Somebody else has changed it since sluice did. */
export function isTouched({ by }: Target): boolean {
  return by === 'operator' || by === 'reload'
}

/** Somebody else has changed it since that entry, or since then. */
export function isTouchedSince(target: Target, entry: number, at: number): boolean {
  return isTouched(target) && (target.entry > entry || target.changedAt >= at)
}

/** Out, and it was sluice that took it out. */
export function isTakenOut(target: Target): boolean {
  return target.isDrained && target.state?.routable === false && !isHome(target)
}

/** Out, and it was somebody else who took it out. */
export function isHeldOut(target: Target): boolean {
  return target.state?.routable === false && !isTakenOut(target)
}

/**
 * What allowed this when it left, or else what was written last. A target that was drained for a pod that is gone may be
 * claimed for that one, and for the pod in its place.
 */
export function claimAt({ claims }: Target, at: number, effect: 'drain' | 'restore'): Claim | undefined {
  const until = claims.filter((claim) => claim.at <= at)
  const isNewest = (claim: Claim): boolean => until.findLast(({ uid }) => uid === claim.uid) === claim
  return until.findLast((claim) => isNewest(claim) && !claim.untouched && allows(claim, effect)) ?? until.at(-1)
}

export function allows({ step }: Claim, effect: 'drain' | 'restore'): boolean {
  return effect === 'drain' ? step === 'drain' || step === 'patched' : step === 'restore'
}
