/** Every address of the console, built in one place. They are the router's: `/console` stands before them. */

export type Mode = 'live' | 'test'

/** The account and the mode that a screen is about; they stand in its address. */
export interface Place {
  readonly account: string
  readonly mode: Mode
}

export const basePath = '/console'
