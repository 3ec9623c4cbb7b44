import Satchel

/// A picture as a baseline JPEG: three components, no subsampling, one quantization table.
///
/// The codes of its Huffman tables all have one length, which costs some bytes and saves the tables of the standard.
struct JPEGImage {
  /// Red, green and blue, 0 to 255.
  typealias Colour = SIMD3<Double>

  let width: Int
  let height: Int
  /// The EXIF segment's TIFF structure.
  var exif: [UInt8] = []

  /// Returns the file.
  ///
  /// - Parameter pixel: the colour at a column and a row
  func encoded(_ pixel: (Int, Int) -> Colour) -> [UInt8] {
    var file: [UInt8] = [0xFF, 0xD8]
    if !exif.isEmpty { segment(0xE1, Array("Exif\0\0".utf8) + exif, to: &file) }
    segment(0xDB, [0] + Self.order.map { UInt8(Self.step($0)) }, to: &file)
    let size = [height >> 8, height & 0xFF, width >> 8, width & 0xFF].map { UInt8($0) }
    segment(0xC0, [8] + size + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0], to: &file)
    segment(0xC4, Self.table(0x00, Self.differences, length: Self.differenceLength), to: &file)
    segment(0xC4, Self.table(0x10, Self.coefficients, length: Self.coefficientLength), to: &file)
    segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0], to: &file)
    file += scan(pixel)
    return file + [0xFF, 0xD9]
  }

  private func segment(_ marker: UInt8, _ content: [UInt8], to file: inout [UInt8]) {
    let length = content.count + 2
    file += [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
  }

  // MARK: The tables

  private static let differenceLength = 4
  private static let coefficientLength = 8
  /// The numbers of bits of a difference between two averages.
  private static let differences = (0...11).map { UInt8($0) }
  /// The end of a block, sixteen zeros, and a number of zeros before a number of bits.
  private static let coefficients: [UInt8] =
    [0x00, 0xF0] + (0...15).flatMap { zeros in (1...10).map { UInt8(zeros << 4 | $0) } }
  private static let codes = Dictionary(
    uniqueKeysWithValues: coefficients.enumerated().map { (Int($1), $0) })

  private static func table(_ id: UInt8, _ symbols: [UInt8], length: Int) -> [UInt8] {
    [id] + (1...16).map { $0 == length ? UInt8(symbols.count) : 0 } + symbols
  }

  /// The positions of a block in zigzag order.
  private static let order = (0..<64).sorted { one, other in
    let (a, b) = ((one / 8, one % 8), (other / 8, other % 8))
    if a.0 + a.1 != b.0 + b.1 { return a.0 + a.1 < b.0 + b.1 }
    return (a.0 + a.1) % 2 == 0 ? a.0 > b.0 : a.0 < b.0
  }

  /// The quantization step at a position.
  private static func step(_ position: Int) -> Int { 5 + 3 * (position / 8 + position % 8) }

  private static let steps = (0..<64).map { Double(step($0)) }

  /// The discrete cosine transform of eight values: `cosines[u * 8 + x]`.
  private static let cosines = (0..<64).map { index in
    let (u, x) = (Double(index / 8), Double(index % 8))
    return (u == 0 ? (1.0 / 8).squareRoot() : 0.5) * cos((2 * x + 1) * u * .pi / 16)
  }

  // MARK: The picture

  private func scan(_ pixel: (Int, Int) -> Colour) -> [UInt8] {
    var bits = Bits()
    var averages = [0, 0, 0]
    for top in stride(from: 0, to: height, by: 8) {
      for left in stride(from: 0, to: width, by: 8) {
        let colours = (0..<64).map { place in
          pixel(min(left + place % 8, width - 1), min(top + place / 8, height - 1))
        }
        for component in 0..<3 {
          let block = Self.transformed(colours.map { Self.value($0, component) })
          Self.put(block, after: &averages[component], to: &bits)
        }
      }
    }
    return bits.finished()
  }

  /// Luminance or one of the two colour differences, around 0.
  private static func value(_ colour: Colour, _ component: Int) -> Double {
    switch component {
    case 0: 0.299 * colour.x + 0.587 * colour.y + 0.114 * colour.z - 128
    case 1: -0.168736 * colour.x - 0.331264 * colour.y + 0.5 * colour.z
    default: 0.5 * colour.x - 0.418688 * colour.y - 0.081312 * colour.z
    }
  }

  /// Returns the quantized coefficients of a block, in zigzag order.
  private static func transformed(_ block: [Double]) -> [Int] {
    var rows = [Double](repeating: 0, count: 64)
    var both = rows
    for row in 0..<8 {
      for u in 0..<8 {
        var sum = 0.0
        for x in 0..<8 { sum += block[row * 8 + x] * cosines[u * 8 + x] }
        rows[row * 8 + u] = sum
      }
    }
    for v in 0..<8 {
      for u in 0..<8 {
        var sum = 0.0
        for y in 0..<8 { sum += rows[y * 8 + u] * cosines[v * 8 + y] }
        both[v * 8 + u] = sum
      }
    }
    return order.map { Int((both[$0] / steps[$0]).rounded()) }
  }

  private static func put(_ block: [Int], after average: inout Int, to bits: inout Bits) {
    let difference = block[0] - average
    average = block[0]
    bits.put(bitCount(difference), differenceLength)
    bits.put(difference)
    var zeros = 0
    for value in block.dropFirst() {
      guard value != 0 else {
        zeros += 1
        continue
      }
      while zeros > 15 {
        bits.put(codes[0xF0] ?? 0, coefficientLength)
        zeros -= 16
      }
      bits.put(codes[zeros << 4 | bitCount(value)] ?? 0, coefficientLength)
      bits.put(value)
      zeros = 0
    }
    if zeros > 0 { bits.put(codes[0x00] ?? 0, coefficientLength) }
  }

  fileprivate static func bitCount(_ value: Int) -> Int { Int.bitWidth - value.magnitude.leadingZeroBitCount }
}

/// Bits that become bytes, with the zero that JPEG puts after 0xFF.
private struct Bits {
  private var bytes: [UInt8] = []
  private var pending = 0
  private var count = 0

  mutating func put(_ value: Int, _ length: Int) {
    pending = pending << length | value
    count += length
    while count >= 8 {
      count -= 8
      let byte = UInt8(truncatingIfNeeded: pending >> count)
      bytes.append(byte)
      if byte == 0xFF { bytes.append(0) }
    }
    pending &= (1 << count) - 1
  }

  /// Appends the bits of a coefficient: those of a negative one are those of its magnitude, inverted.
  mutating func put(_ coefficient: Int) {
    let length = JPEGImage.bitCount(coefficient)
    put(coefficient < 0 ? coefficient + (1 << length) - 1 : coefficient, length)
  }

  /// Fills the last byte with ones.
  mutating func finished() -> [UInt8] {
    if count > 0 { put((1 << (8 - count)) - 1, 8 - count) }
    return bytes
  }
}
