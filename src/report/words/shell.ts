import type { Command } from '../../reasons/command.ts'
import { shellQuote } from './shell-quote.ts'

/** The context of a command's shell form. */
export interface Way {
  /** The name by which sluice was called, such as `kubectl sluice`. */
  program: string
  /** Flags that select the cluster; kubectl accepts them as well. */
  cluster: readonly string[]
  config: readonly string[]
}

const HERE: Way = { program: 'sluice', cluster: [], config: [] }

/** The shell form of a command. */
export function shellForm(command: Command, { program, cluster, config }: Way = HERE): string {
  const namespace = ['-n', command.namespace]
  switch (command.command) {
    case 'resolve': {
      const { pod, gone, loadBalancers = [], traffic } = command
      return `${program} ${shellQuote([
        'resolve',
        ...cluster,
        `pod/${pod}`,
        ...namespace,
        ...(gone ? ['--gone'] : []),
        ...loadBalancers.flatMap((name) => ['--load-balancer', name]),
        ...(traffic === undefined ? [] : ['--traffic', traffic]),
      ])}`
    }
    case 'upgrade':
    case 'undo':
      return `${program} ${shellQuote([
        command.command,
        ...command.workloads,
        ...(command.command === 'undo' && command.run !== undefined ? ['--run', command.run] : []),
        ...namespace,
        ...cluster,
        ...config,
      ])}`
    case 'status':
      return `${program} ${shellQuote(['status', ...command.workloads, ...namespace, ...cluster])}`
    case 'kubectl':
      return shellQuote(['kubectl', ...cluster, ...namespace, ...command.args])
  }
}
