/** An image reference in the syntax of container runtimes: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`. */
export interface ImageReference {
  /** The repository with the default registry and `library/` filled in, as the CRI reports it. */
  repository: string
  tag?: string
  digest?: string
}

export type ParsedImage = { ok: true; reference: ImageReference } | { ok: false; reason: string }

const HOST =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?$/
const PATH_PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^([a-z][a-z0-9]*):([0-9a-f]+)$/
/** The algorithms that the kubelet accepts, with their number of hexadecimal digits. */
const DIGEST_DIGITS = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
])
/** An image ID is no image name: the kubelet refuses it in the place of a repository. */
const BARE_ID = /^[0-9a-f]{64}$/
const LONGEST_NAME = 255
const DEFAULT_HOST = 'docker.io'
const LEGACY_DEFAULT_HOST = 'index.docker.io'

/**
 * Reads an image reference by the grammar of the distribution project. The API server accepts an invalid image, and the kubelet kills the
 * running container before it notices, so sluice checks the reference first.
 */
export function parseImageReference(text: string): ParsedImage {
  const no = (reason: string): ParsedImage => ({ ok: false, reason })
  if (text === '') return no('it is empty')
  if (/\s/.test(text)) return no('it contains white space')
  const at = text.indexOf('@')
  const digest = at < 0 ? undefined : text.slice(at + 1)
  const wrongDigest = digest === undefined ? undefined : digestTrouble(digest)
  if (wrongDigest !== undefined) return no(wrongDigest)
  if (BARE_ID.test(text)) return no('it is an image ID; a digest needs a repository before it (REPOSITORY@sha256:…)')
  const name = at < 0 ? text : text.slice(0, at)
  // A colon after the last slash begins the tag; a colon before it belongs to a port.
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1)
  const tag = colon < 0 ? undefined : name.slice(colon + 1)
  if (tag !== undefined && !TAG.test(tag))
    return no(`"${tag}" is no tag (letters, digits, "_", "." and "-", at most 128, none of "." and "-" first)`)
  const path = colon < 0 ? name : name.slice(0, colon)
  const slash = path.indexOf('/')
  const first = slash < 0 ? '' : path.slice(0, slash)
  const hasHost = first !== '' && (/[.:[]/.test(first) || first === 'localhost' || first !== first.toLowerCase())
  if (hasHost && !HOST.test(first)) return no(`"${first}" is no registry host`)
  const parts = (hasHost ? path.slice(slash + 1) : path).split('/')
  const wrong = parts.find((part) => !PATH_PART.test(part))
  if (wrong !== undefined) {
    return no(
      wrong === ''
        ? 'a part of its name is empty'
        : `"${wrong}" may hold lower-case letters, digits and single separators ("." "_" "-") only`,
    )
  }
  const host = !hasHost || first === LEGACY_DEFAULT_HOST ? DEFAULT_HOST : first
  const repository = `${host}/${host === DEFAULT_HOST && parts.length === 1 ? 'library/' : ''}${parts.join('/')}`
  if (repository.length > LONGEST_NAME) return no(`its name is longer than ${LONGEST_NAME} characters`)
  return {
    ok: true,
    reference: { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) },
  }
}

function digestTrouble(digest: string): string | undefined {
  const match = DIGEST.exec(digest)
  if (!match) return `"${digest}" is no digest (sha256:<64 lower-case hexadecimal digits>)`
  const [, algorithm, digits] = match as unknown as [string, string, string]
  const expected = DIGEST_DIGITS.get(algorithm)
  if (expected === undefined) return `"${algorithm}" is no digest algorithm (${[...DIGEST_DIGITS.keys()].join(', ')})`
  return digits.length === expected ? undefined : `a ${algorithm} digest has ${expected} hexadecimal digits`
}

/**
 * The canonical form, in which references to the same image are equal: `docker.io/library/nginx:latest`. An invalid reference is returned
 * unchanged.
 */
export function normalizeImage(text: string): string {
  const parsed = parseImageReference(text)
  if (!parsed.ok) return text
  const { repository, tag, digest } = parsed.reference
  // The CRI drops the tag of a reference that also has a digest.
  if (digest !== undefined) return `${repository}@${digest}`
  return `${repository}:${tag ?? 'latest'}`
}
