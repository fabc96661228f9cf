// An animated GIF (GIF89a) of pictures of the page, each with its 256 most frequent colours.

/** Numbers of two bytes, low byte first. @param {number[]} numbers */
const words = (...numbers) => numbers.flatMap((n) => [n & 255, n >> 8]);
const text = (/** @type {string} */ letters) => [...letters].map((letter) => letter.charCodeAt(0));

/**
 * @param {ImageData[]} frames
 * @param {number} pause  ms for each
 */
export function gif(frames, pause) {
  const [width, height] = [Math.max(...frames.map((f) => f.width)), Math.max(...frames.map((f) => f.height))];
  /** @type {(number[] | Uint8Array)[]} */
  const parts = [[...text("GIF89a"), ...words(width, height), 0x70, 0, 0]];
  parts.push([0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0]); // it repeats without end
  for (const frame of frames) {
    const { colours, pixels } = reduced(frame);
    parts.push([0x21, 0xf9, 4, 8, ...words(Math.round(pause / 10)), 0, 0]); // the background comes back before the next
    parts.push([0x2c, 0, 0, 0, 0, ...words(frame.width, frame.height), 0x87, ...colours, 8], packed(pixels), [0]);
  }
  return new Blob([...parts, [0x3b]].map((part) => Uint8Array.from(part)), { type: "image/gif" });
}

/**
 * A frame's palette, as 768 bytes, and the number of each pixel's colour in it.
 * @param {ImageData} frame
 */
function reduced({ data }) {
  const bin = (/** @type {number} */ i) => ((data[i] >> 3) << 10) | ((data[i + 1] >> 3) << 5) | (data[i + 2] >> 3);
  const counts = new Uint32Array(1 << 15);
  /** @type {Map<number, number>}  bin -> its first pixel */
  const first = new Map();
  for (let i = 0; i < data.length; i += 4) if (!counts[bin(i)]++) first.set(bin(i), i);
  const kept = [...first.keys()].sort((a, b) => counts[b] - counts[a]).slice(0, 256);
  const palette = kept.map((key) => [...data.slice(first.get(key), (first.get(key) ?? 0) + 3)]);
  const nearest = new Int16Array(1 << 15).fill(-1);
  const pixels = new Uint8Array(data.length / 4);
  for (let i = 0; i < data.length; i += 4) {
    const key = bin(i);
    if (nearest[key] < 0) {
      const far = palette.map(([r, g, b]) => (r - data[i]) ** 2 + (g - data[i + 1]) ** 2 + (b - data[i + 2]) ** 2);
      nearest[key] = far.indexOf(Math.min(...far));
    }
    pixels[i / 4] = nearest[key];
  }
  return { colours: [...palette.flat(), ...new Array(768 - 3 * palette.length).fill(0)], pixels };
}

/**
 * Compress with LZW, in blocks of at most 255 bytes.
 * @param {Uint8Array} pixels
 */
function packed(pixels) {
  const [CLEAR, END] = [256, 257];
  /** @type {number[]} */
  const bytes = [];
  let [bits, held, size, next] = [0, 0, 9, 258];
  /** @type {Map<number, number>}  code of a sequence and the next pixel -> code of both */
  let codes = new Map();
  const put = (/** @type {number} */ code) => {
    held |= code << bits;
    for (bits += size; bits >= 8; bits -= 8, held >>>= 8) bytes.push(held & 255);
  };
  put(CLEAR);
  let code = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = (code << 8) | pixels[i];
    const longer = codes.get(key);
    if (longer !== undefined) {
      code = longer;
      continue;
    }
    put(code);
    code = pixels[i];
    if (next === 4096) {
      put(CLEAR);
      [codes, size, next] = [new Map(), 9, 258];
      continue;
    }
    if (next === 1 << size) size++;
    codes.set(key, next++);
  }
  put(code);
  put(END);
  if (bits) bytes.push(held & 255);
  const blocks = [];
  for (let i = 0; i < bytes.length; i += 255) blocks.push(Math.min(255, bytes.length - i), ...bytes.slice(i, i + 255));
  return Uint8Array.from(blocks);
}
