import { podUpgradeMachine } from '../../machines/pod-upgrade/index.ts'

type Machine = typeof podUpgradeMachine

/** The methods that XState binds to the machine that it makes. */
const BOUND = ['transition', 'getInitialSnapshot', 'getPersistedSnapshot', 'restoreSnapshot', 'start'] as const

/**
 * Shares one tree of states between the runs of this process. Each run provides the machine with its own ports, and XState would build the
 * tree again, an eighth of the time of a seed. The tree holds no data of a run.
 */
export function shareStates(): void {
  const machine = podUpgradeMachine
  const own = machine.implementations
  const methods = Object.getPrototypeOf(machine) as Record<string, (...given: unknown[]) => unknown>
  machine.provide = (given) => {
    const implementations = Object.fromEntries(
      (['actors', 'actions', 'delays', 'guards'] as const).map((kind) => [kind, { ...own[kind], ...given[kind] }]),
    )
    const shared = Object.create(machine, { implementations: { value: implementations } }) as Machine
    for (const name of BOUND) Object.defineProperty(shared, name, { value: methods[name]!.bind(shared) })
    return shared
  }
}
