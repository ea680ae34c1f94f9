import { createHash } from 'node:crypto'
import { tar, type TarEntry } from './tar.ts'

export interface Image {
  /** Names such as `localhost/app:v1`. containerd takes only names with a host. */
  tags: readonly string[]
  /** The files of each layer. Images with an equal layer share it. */
  layers: readonly (readonly TarEntry[])[]
  entrypoint: readonly string[]
  /** The user and the group, such as `65532:65532`. The default is root. */
  user?: string
}

/** Returns the archive of images that `docker load`, `ctr image import` and `skopeo` read. */
export function dockerArchive(images: readonly Image[]): Buffer {
  const entries = new Map<string, Buffer>()
  const manifest: { Config: string; RepoTags: readonly string[]; Layers: string[] }[] = []
  for (const image of images) {
    const layers = image.layers.map(tar)
    const config = Buffer.from(
      JSON.stringify({
        architecture: process.arch === 'x64' ? 'amd64' : process.arch,
        os: 'linux',
        config: { ...(image.user !== undefined && { User: image.user }), Entrypoint: image.entrypoint, WorkingDir: '/' },
        rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
      }),
    )
    const configName = `${sha256(config)}.json`
    const layerNames = layers.map((layer) => `${sha256(layer)}.tar`)
    entries.set(configName, config)
    layers.forEach((layer, index) => entries.set(layerNames[index]!, layer))
    manifest.push({ Config: configName, RepoTags: image.tags, Layers: layerNames })
  }
  entries.set('manifest.json', Buffer.from(JSON.stringify(manifest)))
  return tar([...entries].map(([name, content]) => ({ name, content, mode: 0o644 })))
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
