/** Detects file types from first bytes and name, and limits sizes. No type can run code in a browser. */

const megabyte = 1024 * 1024
const bytesMax: Readonly<Record<string, number>> = {
  image: 25 * megabyte,
  sticker: 5 * megabyte,
  audio: 25 * megabyte,
  video: 100 * megabyte,
  document: 100 * megabyte,
}

/** Providers' own limits are lower. */
export const bytesMaxOf = (kind: string): number => bytesMax[kind] ?? bytesMax['document']!
export const uploadBytesMax = Math.max(...Object.values(bytesMax))

export type FileKind = 'image' | 'audio' | 'video' | 'document'

export interface FileType {
  readonly kind: FileKind
  readonly content_type: string
  /** In lower case; the first is the usual one. */
  readonly extensions: readonly string[]
}

const type = (
  content_type: string,
  extensions: string,
  kind = content_type.split('/', 1)[0] as FileKind,
): FileType => ({
  kind,
  content_type,
  extensions: extensions.split(' '),
})
const office = 'application/vnd.openxmlformats-officedocument'
const open = 'application/vnd.oasis.opendocument'

interface Signature {
  readonly fits: (head: Buffer) => boolean
  /** Distinguished by the file name; the first is the default. */
  readonly types: readonly FileType[]
  /** The bytes are not enough: the name must have the extension. */
  readonly by_name?: true
}

const signatures: readonly Signature[] = [
  { fits: (head) => has(head, 0, '\xff\xd8\xff'), types: [type('image/jpeg', 'jpg jpeg')] },
  { fits: (head) => has(head, 0, '\x89PNG\r\n\x1a\n'), types: [type('image/png', 'png')] },
  { fits: (head) => has(head, 0, 'GIF87a') || has(head, 0, 'GIF89a'), types: [type('image/gif', 'gif')] },
  { fits: (head) => has(head, 0, 'RIFF') && has(head, 8, 'WEBP'), types: [type('image/webp', 'webp')] },
  { fits: (head) => has(head, 0, 'RIFF') && has(head, 8, 'WAVE'), types: [type('audio/wav', 'wav')] },
  {
    fits: (head) => has(head, 0, 'ID3') || (head[0] === 0xff && [0xfb, 0xfa, 0xf3, 0xf2].includes(head[1]!)),
    types: [type('audio/mpeg', 'mp3')],
  },
  { fits: (head) => head[0] === 0xff && (head[1] === 0xf1 || head[1] === 0xf9), types: [type('audio/aac', 'aac')] },
  { fits: (head) => has(head, 0, '#!AMR'), types: [type('audio/amr', 'amr')] },
  { fits: (head) => has(head, 0, 'OggS'), types: [type('audio/ogg', 'ogg oga opus')] },
  { fits: (head) => has(head, 4, 'ftypM4A'), types: [type('audio/mp4', 'm4a mp4')] },
  { fits: (head) => has(head, 4, 'ftypqt'), types: [type('video/quicktime', 'mov')] },
  { fits: (head) => has(head, 4, 'ftyp3g'), types: [type('video/3gpp', '3gp 3gpp')] },
  {
    fits: (head) => /^ftyp(?:isom|iso\d|mp4|avc|MSNV|M4V|dash)/.test(text(head, 4, 12)),
    types: [type('video/mp4', 'mp4 m4v'), type('audio/mp4', 'm4a')],
  },
  { fits: (head) => has(head, 0, '\x1a\x45\xdf\xa3'), types: [type('video/webm', 'webm')] },
  { fits: (head) => has(head, 0, '%PDF-'), types: [type('application/pdf', 'pdf', 'document')] },
  {
    fits: (head) => has(head, 0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
    types: [
      type('application/msword', 'doc', 'document'),
      type('application/vnd.ms-excel', 'xls', 'document'),
      type('application/vnd.ms-powerpoint', 'ppt', 'document'),
    ],
    by_name: true,
  },
  {
    // by the name of the first entry of the archive
    fits: (head) =>
      has(head, 0, 'PK\x03\x04') &&
      /^(?:\[Content_Types\]\.xml|_rels\/|docProps\/|customXml\/|word\/|xl\/|ppt\/)/.test(text(head, 30, 60)),
    types: [
      type(`${office}.wordprocessingml.document`, 'docx', 'document'),
      type(`${office}.spreadsheetml.sheet`, 'xlsx', 'document'),
      type(`${office}.presentationml.presentation`, 'pptx', 'document'),
    ],
    by_name: true,
  },
  {
    fits: (head) => has(head, 0, 'PK\x03\x04') && has(head, 30, `mimetype${open}.`),
    types: [
      type(`${open}.text`, 'odt', 'document'),
      type(`${open}.spreadsheet`, 'ods', 'document'),
      type(`${open}.presentation`, 'odp', 'document'),
    ],
    by_name: true,
  },
  {
    fits: looksLikeText,
    types: [type('text/plain', 'txt', 'document'), type('text/csv', 'csv', 'document')],
    by_name: true,
  },
]

const known: readonly FileType[] = signatures.flatMap(({ types }) => types)

export const acceptedExtensions = [...new Set(known.map(({ extensions }) => extensions[0]!))].join(', ')

export const headBytes = 512

/** `head`: the first `headBytes`. null: not accepted. */
export function typeOfFile(head: Buffer, file_name: string): FileType | null {
  const signature = signatures.find(({ fits }) => fits(head))
  if (signature === undefined) return null
  const extension = /\.([^.]+)$/.exec(file_name)?.[1]!.toLowerCase()
  const [first] = signature.types
  if (extension === undefined) return signature.by_name ? null : first!
  const matching = signature.types.find(({ extensions }) => extensions.includes(extension))
  if (matching !== undefined || signature.by_name) return matching ?? null
  // a JPEG named .png is a JPEG
  return known.some(({ kind, extensions }) => kind === first!.kind && extensions.includes(extension)) ? first! : null
}

const text = (head: Buffer, from: number, to: number): string => head.toString('latin1', from, to)

function has(head: Buffer, at: number, signature: string): boolean {
  return text(head, at, at + signature.length) === signature
}

/** No control characters, and no start of HTML, SVG, a script or PostScript. */
function looksLikeText(head: Buffer): boolean {
  // oxlint-disable-next-line no-control-regex
  return (
    head.length > 0 &&
    !/[\0-\x08\x0e-\x1f\x7f]/.test(text(head, 0, head.length)) &&
    !/^(?:\xef\xbb\xbf)?\s*(?:<|#!|%!)/.test(text(head, 0, head.length))
  )
}
