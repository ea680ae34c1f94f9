import { z } from 'zod'
import type { KubeClient } from '../kube/client.ts'
import type { ImageOnNodes, Plan } from '../plan/plan.ts'
import { normalizeImage } from '../pods/image.ts'

/** A kubelet reports its 50 largest images (`nodeStatusMaxImages`). A full list does not rule out further images on the node. */
const REPORTED_AT_MOST = 50
/** The limit of nodes; each node costs one GET. */
const NODES_AT_MOST = 100

const NodeStatus = z.object({
  status: z.object({ images: z.array(z.object({ names: z.array(z.string()).nullish() })).nullish() }).nullish(),
})

/** Checks whether the images of a plan are on the nodes of its pods. A node that is not readable gives `unknown`, not an error. */
export async function imagesOnNodes(client: Pick<KubeClient, 'get'>, plan: Pick<Plan, 'pods'>): Promise<ImageOnNodes[]> {
  const nodesOf = new Map<string, Set<string>>()
  for (const { action, node, images } of plan.pods) {
    if (action !== 'upgrade' || node === undefined) continue
    for (const { to } of images) nodesOf.set(to, (nodesOf.get(to) ?? new Set()).add(node))
  }
  const names = [...new Set([...nodesOf.values()].flatMap((nodes) => [...nodes]))]
  const read = await Promise.all(names.slice(0, NODES_AT_MOST).map(async (name) => [name, await reported(client, name)] as const))
  const reports = new Map(read)
  return [...nodesOf].map(([image, nodes]) => {
    const byPresence = Map.groupBy([...nodes].sort(), (node) => presence(image, reports.get(node)))
    return {
      image,
      present: byPresence.get('present') ?? [],
      absent: byPresence.get('absent') ?? [],
      unknown: byPresence.get('unknown') ?? [],
    }
  })
}

function presence(image: string, report: Report | undefined): 'present' | 'absent' | 'unknown' {
  if (report === undefined) return 'unknown'
  if (report.names.has(normalizeImage(image))) return 'present'
  return report.isWhole ? 'absent' : 'unknown'
}

interface Report {
  names: ReadonlySet<string>
  isWhole: boolean
}

/** The images that a node reports. Undefined if the node is not readable, often because the right to get nodes is missing. */
async function reported(client: Pick<KubeClient, 'get'>, node: string): Promise<Report | undefined> {
  const raw = await client.get(`/api/v1/nodes/${encodeURIComponent(node)}`).catch(() => undefined)
  const images = NodeStatus.safeParse(raw).data?.status?.images
  if (images == null) return undefined
  const names = new Set(images.flatMap((one) => one.names ?? []).map(normalizeImage))
  return { names, isWhole: images.length < REPORTED_AT_MOST }
}
