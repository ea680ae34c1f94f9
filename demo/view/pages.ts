import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Of the checkout, or of the installed package: this is in demo/view there, and in dist/cli here. */
const ROOT = join(import.meta.dirname, '../..')

/** A page of the repository: on this machine where it is there. */
export function whereIs(page: string, root = ROOT): string {
  const file = join(root, page)
  return existsSync(file) ? file : page
}

/** Pages to read on, with what they tell; none where dist/cli was taken along alone. */
export function furtherPages(root = ROOT): { file: string; about: string }[] {
  const pages = [
    { file: join(root, 'README.md'), about: '"Use": on your own cluster, in seven steps' },
    { file: join(root, 'docs/protocol.md'), about: 'why it holds, whatever crashes' },
  ]
  return pages.every(({ file }) => existsSync(file)) ? pages : []
}
