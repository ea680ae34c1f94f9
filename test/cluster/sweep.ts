import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { listInfos } from './cluster-info.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { processesOf } from './namespace.ts'
import { removeCgroup } from './node.ts'
import { isAlive, killRecorded } from './process-record.ts'

/** Ends a cluster from any process, in whatever state it is; may be repeated. */
export async function removeCluster(info: ClusterInfo): Promise<void> {
  // First those outside its process namespace, which would survive it.
  for (const record of await processesOf(info)) {
    await killRecorded(record)
  }
  if (info.init !== null) {
    // It is gone only when the kernel has ended all the processes below it.
    await killRecorded(info.init)
  }
  await removeCgroup(info)
  await removeFolder(info.dir)
}

/** Clears away the clusters whose process has died. */
export async function sweepClusters(): Promise<ClusterInfo[]> {
  const orphans = (await listInfos()).filter((info) => info.owner !== null && !isAlive(info.owner))
  for (const info of orphans) {
    await removeCluster(info)
  }
  return orphans
}

/** Mounts below it vanish with the mount namespace, which the kernel drops a moment after its processes. */
async function removeFolder(dir: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await rm(dir, { recursive: true, force: true })
      return
    } catch (error) {
      if (attempt >= 50) throw error
      await sleep(50)
    }
  }
}
