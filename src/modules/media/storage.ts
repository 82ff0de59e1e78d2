/** Where copies of files are kept: what the folder and S3 have in common. */
import type { Readable } from 'node:stream'
import type { Range } from '../../platform/http/files.ts'

export interface Storage {
  readonly name: 'folder' | 's3'
  /** The address of the bucket; null for the folder. */
  readonly bucket: string | null
  /** Takes a whole file over from where it was written, durably; the one that was there before is replaced. */
  keep(id: string, path: string, bytes: number, content_type: string, signal: AbortSignal): Promise<void>
  /** Rejects with a NotKept where it is not there. */
  read(id: string, range: Range, signal: AbortSignal): Promise<Readable>
  /** Does nothing where it is gone already. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}

/** The file is not where it should be. */
export class NotKept extends Error {
  constructor(id: string) {
    super(`the file ${id} is not where it was kept`)
  }
}
