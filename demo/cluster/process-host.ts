import type { ContainerHost, ContainerNews } from '../../sim/kubelet/container-host.ts'
import type { Child, Children } from '../processes/children.ts'

export interface Endpoint {
  host: string
  port: number
}

export interface ProcessHostOptions {
  children: Children
  /** Returns the address that a pod listens at, by the name of the pod. */
  endpointOf: (pod: string) => Endpoint
  /** The time from the start of a container until it answers. */
  startMs: number
}

/** Runs containers as real processes, which the embedded kubelet starts and kills. */
export function createProcessHost({ children, endpointOf, startMs }: ProcessHostOptions): ContainerHost {
  const running = new Map<string, Child>()

  function follow(id: string, child: Child, tell: ContainerNews): void {
    running.set(id, child)
    child.process.stdout!.once('data', () => tell.answers(true))
    child.process.once('exit', (code) => {
      running.delete(id)
      // 128 and the number of SIGTERM, where that signal has ended the process.
      tell.exited(code ?? 143)
    })
  }

  return {
    addresses: { take: ({ metadata }) => endpointOf(metadata.name).host, free: () => {} },
    start({ id, pod, spec }, tell) {
      // The kubelet still runs while the demo ends.
      if (children.isOver) return
      const { name } = pod.metadata
      const { host, port } = endpointOf(name)
      const env = { HOST: host, PORT: `${port}`, POD: name, VERSION: spec.image, START_MS: `${startMs}` }
      follow(id, children.run('pod', env), tell)
    },
    stop(id, graceMs, done) {
      const child = running.get(id)
      if (child === undefined) {
        done()
        return
      }
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), graceMs)
      child.process.once('exit', () => {
        clearTimeout(late)
        done()
      })
    },
    kill: (id) => running.get(id)?.kill('SIGKILL'),
  }
}
