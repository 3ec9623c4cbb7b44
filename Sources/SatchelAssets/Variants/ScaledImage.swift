import CImages
import SatchelCore

/// A picture that was scaled down: the variant that the library makes itself.
///
/// JPEG and PNG are read, by libjpeg-turbo and libpng; the result has the same format, the orientation of EXIF applied,
/// and no metadata but a JPEG's colour profile.
package struct ScaledImage: Sendable {
  package var bytes: [UInt8]
  /// The media type.
  package var type: String
  package var width: Int
  package var height: Int

  /// The maximum number of pixels of a picture.
  package static let maxPixels = 100_000_000
  /// The maximum number of bytes that scaling a picture may take, its file included.
  package static let maxMemory = 256 << 20
  /// The maximum number of pixels that the scans of a progressive JPEG write, each a part of the picture's precision:
  /// ten are usual, and a file of some kilobytes can have hundreds.
  package static let maxScannedPixels = 2_000_000_000

  /// Scales a picture down, never up: one that is not larger and is upright is returned as it is, byte for byte.
  ///
  /// - Parameters:
  ///   - bytes: a JPEG or PNG; they are copied before they are read, because they may be those of a file that changes
  ///   - longestEdge: the longer one of width and height, in pixels
  ///   - quality: that of a JPEG, 1 to 100
  /// - Throws: `SatchelError`: `.invalid` for an argument out of range, for another format, for a picture that is too
  ///   large, and for one that is damaged or cut off; `.io` where the library that reads the format is not installed
  package static func make(
    of bytes: UnsafeRawBufferPointer, longestEdge: Int, quality: Int = 82
  ) throws -> ScaledImage {
    guard longestEdge >= 1 else {
      throw SatchelError(.invalid, "the longest edge of a picture is at least 1 pixel, not \(longestEdge)")
    }
    guard (1...100).contains(quality) else {
      throw SatchelError(.invalid, "the quality of a JPEG is 1 to 100, not \(quality)")
    }
    guard bytes.count <= maxMemory else {
      throw tooLarge("the picture has \(bytes.count) bytes", limit: maxMemory, unit: "bytes")
    }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
    defer { copy.deallocate() }
    copy.copyMemory(from: bytes)
    let file = UnsafeRawBufferPointer(rebasing: copy[..<bytes.count])
    if file.starts(with: JPEGStructure.signature) {
      return try scaled(try JPEGStructure(file), file, longestEdge, quality)
    }
    if file.starts(with: PNGStructure.signature) {
      return try scaled(try PNGStructure(file), file, longestEdge)
    }
    throw SatchelError(
      .invalid,
      "the library scales JPEG and PNG, and this is neither: give a function that makes the variant")
  }

  private static func scaled(
    _ structure: JPEGStructure, _ file: UnsafeRawBufferPointer, _ longestEdge: Int, _ quality: Int
  ) throws -> ScaledImage {
    let size = PixelSize(structure.width, structure.height)
    try check(size)
    guard size.pixels * structure.scanCount <= maxScannedPixels else {
      throw tooLarge(
        "the JPEG has \(structure.scanCount) scans of \(size)", limit: maxScannedPixels, unit: "pixels")
    }
    let target = size.limited(to: longestEdge)
    if target == size, structure.orientation == 1 { return unchanged(file, "image/jpeg", size) }
    // Twice the target leaves enough pixels for a mean of whole ones; the decoder reduces faster than we do.
    let divisor = [8, 4, 2].first { target.longest <= size.longest / (2 * $0) } ?? 1
    let read = size.divided(by: divisor).pixels * (structure.hasInks ? 7 : 3)
    try checkMemory(file.count + structure.coefficientBytes + read, target, channels: 3)
    var pixels = try Pixels(jpeg: file, size, divisor: divisor, structure.kind)
    try pixels.scale(to: target, orientation: structure.orientation)
    var bytes = try pixels.jpeg(quality: quality)
    // After the marker that every JPEG begins with, and the segment that libjpeg writes.
    if !structure.hasInks { bytes.insert(contentsOf: structure.profile, at: Swift.min(20, bytes.count)) }
    return ScaledImage(bytes: bytes, type: "image/jpeg", width: pixels.size.width, height: pixels.size.height)
  }

  private static func scaled(
    _ structure: PNGStructure, _ file: UnsafeRawBufferPointer, _ longestEdge: Int
  ) throws -> ScaledImage {
    let size = PixelSize(structure.width, structure.height)
    try check(size)
    let target = size.limited(to: longestEdge)
    if target == size, structure.orientation == 1 { return unchanged(file, "image/png", size) }
    try checkMemory(file.count + size.pixels * structure.channels, target, channels: structure.channels)
    var pixels = try Pixels(png: file, size)
    try pixels.scale(to: target, orientation: structure.orientation)
    let bytes = try pixels.png()
    return ScaledImage(bytes: bytes, type: "image/png", width: pixels.size.width, height: pixels.size.height)
  }

  private static func unchanged(
    _ file: UnsafeRawBufferPointer, _ type: String, _ size: PixelSize
  ) -> ScaledImage {
    ScaledImage(bytes: Array(file), type: type, width: size.width, height: size.height)
  }

  private static func check(_ size: PixelSize) throws {
    guard size.pixels <= maxPixels else {
      throw tooLarge("the picture has \(size)", limit: maxPixels, unit: "pixels")
    }
  }

  /// - Parameters:
  ///   - bytes: those of reading the picture
  ///   - target: is made twice, before and after it is turned
  private static func checkMemory(_ bytes: Int, _ target: PixelSize, channels: Int) throws {
    let bytes = bytes + 2 * target.pixels * channels
    guard bytes <= maxMemory else {
      throw tooLarge("scaling the picture takes \(bytes) bytes", limit: maxMemory, unit: "bytes")
    }
  }

  private static func tooLarge(_ what: String, limit: Int, unit: String) -> SatchelError {
    SatchelError(
      .invalid,
      "\(what); at most \(limit) \(unit) are scaled by the library: give a function that makes the variant"
    ).at(limit: limit)
  }
}

/// Width and height in pixels; both at least 1, and below 2^32.
struct PixelSize: Equatable, CustomStringConvertible {
  var width: Int
  var height: Int

  init(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }

  /// Not beyond the largest number.
  var pixels: Int {
    let product = width.multipliedReportingOverflow(by: height)
    return product.overflow ? .max : product.partialValue
  }
  var longest: Int { max(width, height) }
  var description: String { "\(width) × \(height) pixels" }

  /// Returns the size of the same shape whose longer edge is `edge`, or this one where that is not larger.
  func limited(to edge: Int) -> PixelSize {
    guard edge < longest else { return self }
    // Each number is below 2^32.
    func reduced(_ length: Int) -> Int { max((2 * length * edge + longest) / (2 * longest), 1) }
    return PixelSize(reduced(width), reduced(height))
  }

  /// Returns the size that a JPEG is decoded at.
  func divided(by divisor: Int) -> PixelSize {
    PixelSize((width + divisor - 1) / divisor, (height + divisor - 1) / divisor)
  }
}
