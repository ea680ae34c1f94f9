import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { listInfos } from './cluster-info.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { processesOf } from './namespace.ts'
import { removeCgroup } from './node.ts'
import { isAlive, killRecorded } from './process-record.ts'

/** Ends a cluster in any state, from any process. Repeated calls are allowed. */
export async function removeCluster(info: ClusterInfo): Promise<void> {
  // Processes outside its process namespace would survive it, so they are killed first.
  for (const record of await processesOf(info)) {
    await killRecorded(record)
  }
  if (info.init !== null) {
    // The process is gone after the kernel has ended all processes below it.
    await killRecorded(info.init)
  }
  await removeCgroup(info)
  await removeFolder(info.dir)
}

/** Removes the clusters whose owner has died. */
export async function sweepClusters(): Promise<ClusterInfo[]> {
  const orphans = (await listInfos()).filter((info) => info.owner !== null && !isAlive(info.owner))
  for (const info of orphans) {
    await removeCluster(info)
  }
  return orphans
}

/** Removes a folder. Mounts below it vanish with the mount namespace, which the kernel drops a moment after its processes. */
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
