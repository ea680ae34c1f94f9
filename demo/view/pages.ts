import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The root of the checkout, or of the installed package: this file is in demo/view of the first, and in dist/cli of the second. */
const ROOT = join(import.meta.dirname, '../..')

/** Returns the path of a page of the repository, on this machine where it exists there. */
export function whereIs(page: string, root = ROOT): string {
  const file = join(root, page)
  return existsSync(file) ? file : page
}

/** Returns pages for further reading, with their subjects. Empty where dist/cli was copied alone. */
export function furtherPages(root = ROOT): { file: string; about: string }[] {
  const pages = [
    { file: join(root, 'README.md'), about: '"Use": on your own cluster, in seven steps' },
    { file: join(root, 'docs/protocol.md'), about: 'why it holds, whatever crashes' },
  ]
  return pages.every(({ file }) => existsSync(file)) ? pages : []
}
