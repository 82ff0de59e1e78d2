/** The sources that exist: one line each. */
import { custom } from './custom/custom.ts'
import { shopify } from './shopify/shopify.ts'
import type { Source } from './source.ts'
import { woocommerce } from './woocommerce/woocommerce.ts'

export const sources: readonly Source[] = [custom, shopify, woocommerce]

/** The platform whose format every integration source may use. */
export const commonPlatform = custom.platform

/** Platforms without a folder of their own send the common format. */
export const sourceOf = (platform: string): Source => sources.find((source) => source.platform === platform) ?? custom
