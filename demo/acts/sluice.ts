import { CONTAINER, NAMESPACE, WORKLOAD } from '../cluster/manifests.ts'
import type { Children } from '../processes/children.ts'
import type { Act } from './act.ts'

export interface SluiceOptions {
  children: Children
  /** The path of the script of sluice's command line. */
  program: string
  config: string
  /** The path for the report. */
  report: string
}

/** The act of sluice itself, in a separate process that writes where the demo writes. */
export function sluiceAct({ children, program, config, report }: SluiceOptions): Act {
  return {
    name: 'sluice',
    about: 'Drain, wait until nothing is in flight, patch, wait for proof of the new container, restore.',
    hasLateHeartbeat: true,
    showsItself: true,
    async upgrade({ cluster }, image) {
      const request = ['upgrade', `statefulset/${WORKLOAD}`, `${CONTAINER}=${image}`]
      const flags = ['-n', NAMESPACE, '--kubeconfig', cluster.kubeconfig, '--config', config, '--report', report]
      const command = [process.execPath, program, ...request, ...flags]
      const code = await children.runOnLeash(command, { output: 'inherit' }).exit
      return code === 0 ? undefined : `it ended with ${code}`
    },
  }
}
