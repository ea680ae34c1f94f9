import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { bundleCommandLine } from '../../../scripts/bundle-command-line.ts'
import { dockerArchive } from '../../../scripts/image/docker-archive.ts'
import { sluiceImage } from '../../../scripts/image/sluice-image.ts'
import { ensureKubectl } from '../binaries.ts'
import { type Cluster, startCluster } from '../cluster.ts'
import { waitFor, type KubeObject } from '../kube-api.ts'
import { runCommand } from '../run-command.ts'

const DEPLOY = join(import.meta.dirname, '../../../deploy')
const IMAGE = { name: 'localhost/sluice', tag: 'test' }

/** A cluster whose node has the image of sluice, for programs that run in pods as deploy/ has them. */
export interface DeployBed {
  readonly cluster: Cluster
  /** Runs kubectl as the administrator, and returns its output. */
  kubectl(...args: string[]): Promise<string>
  /**
   * Writes a kustomization on top of folders of deploy/, as an administrator would, and returns its folder. The image is that of the test.
   */
  overlay(name: string, overlay: Overlay): Promise<string>
  /** Waits until each replica of the Deployment is ready, and no other pod of it is left. */
  available(namespace: string, name: string, replicas: number): Promise<void>
  /** Returns the lines of the logs of all pods of a namespace, parsed where they are JSON. */
  logs(namespace: string): Promise<KubeObject[]>
  stop(): Promise<void>
}

export interface Overlay {
  /** Folders of deploy/. */
  bases: readonly string[]
  /** A folder of deploy/ with the rights in one namespace, for each of these namespaces. */
  rights?: { base: string; namespaces: readonly string[] }
  /** More fields of the kustomization. */
  more?: Record<string, unknown>
  files?: Record<string, string>
}

export async function startDeployBed(): Promise<DeployBed> {
  const cluster = await startCluster({ inCluster: true, nodeMonitorGracePeriodMs: 6_000 })
  const folder = join(cluster.info.dir, 'deployed')
  try {
    await giveImage(cluster, folder)
  } catch (error) {
    await cluster.stop()
    throw error
  }
  const program = await runCommand('which', ['kubectl'], { allowFailure: true })
  const kubectl = program.code === 0 ? program.stdout.trim() : await ensureKubectl()

  return {
    cluster,
    async kubectl(...args) {
      return (await runCommand(kubectl, ['--kubeconfig', cluster.kubeconfig.host, ...args], { timeoutMs: 120_000 })).stdout
    },
    async overlay(name, { bases, rights, more, files = {} }) {
      const own = join(folder, name)
      await mkdir(own, { recursive: true })
      const at = (base: string): string => relative(own, join(DEPLOY, base))
      const inNamespaces = (rights?.namespaces ?? []).map((namespace) => `rights-${namespace}`)
      for (const [index, namespace] of (rights?.namespaces ?? []).entries())
        await writeKustomization(join(own, inNamespaces[index]!), {
          namespace,
          resources: [relative(join(own, inNamespaces[index]!), join(DEPLOY, rights!.base))],
        })
      for (const [file, text] of Object.entries(files)) await writeFile(join(own, file), text)
      await writeKustomization(own, {
        resources: [...bases.map(at), ...inNamespaces],
        images: [{ name: 'sluice', newName: IMAGE.name, newTag: IMAGE.tag }],
        ...more,
      })
      return own
    },
    async available(namespace, name, replicas) {
      await waitFor(
        `${replicas} ready replicas of ${name}`,
        () => cluster.api.get('Deployment', name, namespace),
        ({ status, metadata }) =>
          status.observedGeneration === metadata.generation &&
          (status.readyReplicas ?? 0) === replicas &&
          (status.updatedReplicas ?? 0) === replicas &&
          (status.replicas ?? 0) === replicas,
        { timeoutMs: 60_000 },
      )
    },
    async logs(namespace) {
      const pods = await cluster.api.list('Pod', namespace)
      const texts = await Promise.all(
        pods.map(({ metadata }) => cluster.api.request('GET', `/api/v1/namespaces/${namespace}/pods/${metadata.name}/log`)),
      )
      return texts.flatMap((text) =>
        String(text)
          .split('\n')
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line) as KubeObject),
      )
    },
    stop: () => cluster.stop(),
  }
}

async function writeKustomization(folder: string, content: Record<string, unknown>): Promise<void> {
  await mkdir(folder, { recursive: true })
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...content }
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
}

async function giveImage(cluster: Cluster, folder: string): Promise<void> {
  const cli = join(folder, 'cli')
  await mkdir(cli, { recursive: true })
  await bundleCommandLine(cli)
  const archive = join(folder, 'sluice.tar')
  await writeFile(archive, dockerArchive([sluiceImage(cli, [`${IMAGE.name}:${IMAGE.tag}`])]))
  await cluster.importImages(archive)
}
