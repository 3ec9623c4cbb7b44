import CImages
import SatchelCore

/// The pixels of a picture.
struct Pixels: ~Copyable {
  private var picture: cimages_picture

  deinit { cimages_free(picture.pixels) }

  /// Reads a JPEG.
  ///
  /// - Parameters:
  ///   - jpeg: the file; it does not change
  ///   - size: that of its header
  ///   - divisor: reads it at a fraction of its size: 1, 2, 4 or 8
  init(jpeg: UnsafeRawBufferPointer, _ size: PixelSize, divisor: Int, _ kind: cimages_jpeg_kind) throws {
    var picture = cimages_picture()
    try Self.call("the JPEG") { message in
      cimages_read_jpeg(
        jpeg.baseAddress?.assumingMemoryBound(to: UInt8.self), jpeg.count, UInt32(clamping: size.width),
        UInt32(clamping: size.height), UInt32(divisor), kind, &picture, message)
    }
    self.picture = picture
  }

  /// Reads a PNG; else as `init(jpeg:)`.
  init(png: UnsafeRawBufferPointer, _ size: PixelSize) throws {
    var picture = cimages_picture()
    try Self.call("the PNG") { message in
      cimages_read_png(
        png.baseAddress?.assumingMemoryBound(to: UInt8.self), png.count, UInt32(clamping: size.width),
        UInt32(clamping: size.height), &picture, message)
    }
    self.picture = picture
  }

  var size: PixelSize { PixelSize(Int(picture.width), Int(picture.height)) }

  /// Scales down to a size, and turns the result upright.
  ///
  /// - Parameters:
  ///   - size: before it is turned; not larger than the picture
  ///   - orientation: that of EXIF, 1 to 8
  mutating func scale(to size: PixelSize, orientation: Int) throws {
    let isDone =
      (size == self.size
        || cimages_reduce(&picture, UInt32(clamping: size.width), UInt32(clamping: size.height)))
      && cimages_orient(&picture, CInt(clamping: orientation))
    guard isDone else { throw Self.noMemory }
  }

  /// Returns a JPEG of the pixels.
  func jpeg(quality: Int) throws -> [UInt8] {
    try written { cimages_write_jpeg(&$0, CInt(clamping: quality), &$1, &$2, $3) }
  }

  /// Returns a PNG of the pixels.
  func png() throws -> [UInt8] { try written { cimages_write_png(&$0, &$1, &$2, $3) } }

  private func written(
    _ write: (
      inout cimages_picture, inout UnsafeMutablePointer<UInt8>?, inout Int, UnsafeMutablePointer<CChar>?
    ) -> cimages_outcome
  ) throws -> [UInt8] {
    var (picture, bytes, count) = (picture, UnsafeMutablePointer<UInt8>?.none, 0)
    try Self.call("the scaled picture") { write(&picture, &bytes, &count, $0) }
    defer { cimages_free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  private static var noMemory: SatchelError { SatchelError(.noMemory, "not enough memory for a picture") }

  private static func call(
    _ name: String, _ body: (UnsafeMutablePointer<CChar>?) -> cimages_outcome
  ) throws {
    var message = [CChar](repeating: 0, count: Int(CIMAGES_MESSAGE))
    let outcome = message.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    let text = String(
      decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    switch outcome {
    case CIMAGES_OK: return
    case CIMAGES_MISSING: throw SatchelError(.io, text)
    case CIMAGES_NO_MEMORY: throw noMemory
    default: throw SatchelError(.invalid, "\(name) is damaged: \(text)")
    }
  }
}
