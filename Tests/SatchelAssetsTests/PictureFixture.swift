import CImages
import Foundation
import Testing

@testable import SatchelAssets

/// Pictures of the tests, and their pixels.
struct Picture: Equatable {
  var width: Int
  var height: Int
  var channels: Int
  var samples: [UInt8]

  init(width: Int, height: Int, channels: Int, samples: [UInt8]) {
    (self.width, self.height, self.channels, self.samples) = (width, height, channels, samples)
  }

  /// A picture whose pixels `color` returns.
  init(width: Int, height: Int, _ color: (Int, Int) -> [UInt8]) {
    let samples = (0..<height).flatMap { y in (0..<width).flatMap { color($0, y) } }
    self.init(width: width, height: height, channels: samples.count / (width * height), samples: samples)
  }

  /// Decodes a picture.
  init(decoding bytes: [UInt8]) throws {
    var (picture, message) = (cimages_picture(), [CChar](repeating: 0, count: Int(CIMAGES_MESSAGE)))
    let outcome: cimages_outcome = try bytes.withUnsafeBytes { file in
      if file[0] == 0xFF {
        let structure = try JPEGStructure(file)
        return cimages_read_jpeg(
          bytes, bytes.count, UInt32(structure.width), UInt32(structure.height), 1, structure.kind, &picture,
          &message)
      }
      let structure = try PNGStructure(file)
      return cimages_read_png(
        bytes, bytes.count, UInt32(structure.width), UInt32(structure.height), &picture, &message)
    }
    try #require(outcome == CIMAGES_OK)
    self.init(picture)
    cimages_free(picture.pixels)
  }

  private init(_ picture: cimages_picture) {
    let channels = Int(picture.format.rawValue)
    let count = Int(picture.width) * Int(picture.height) * channels
    self.init(
      width: Int(picture.width), height: Int(picture.height), channels: channels,
      samples: Array(UnsafeBufferPointer(start: picture.pixels, count: count)))
  }

  subscript(x: Int, y: Int) -> [UInt8] {
    Array(samples[((y * width + x) * channels)..<((y * width + x + 1) * channels)])
  }

  /// Returns a copy in memory of the C target.
  private func copied() throws -> cimages_picture {
    let memory = try #require(malloc(samples.count)).assumingMemoryBound(to: UInt8.self)
    memory.update(from: samples, count: samples.count)
    return cimages_picture(
      pixels: memory, width: UInt32(width), height: UInt32(height),
      format: cimages_format(UInt32(channels)), is_not_srgb: false)
  }

  private func written(
    _ write: (
      inout cimages_picture, inout UnsafeMutablePointer<UInt8>?, inout Int, UnsafeMutablePointer<CChar>
    ) -> cimages_outcome
  ) throws -> [UInt8] {
    var (picture, bytes, count) = (try copied(), UnsafeMutablePointer<UInt8>?.none, 0)
    var message = [CChar](repeating: 0, count: Int(CIMAGES_MESSAGE))
    let outcome = write(&picture, &bytes, &count, &message)
    defer {
      cimages_free(picture.pixels)
      cimages_free(bytes)
    }
    try #require(outcome == CIMAGES_OK)
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// The picture as PNG.
  func png() throws -> [UInt8] { try written { cimages_write_png(&$0, &$1, &$2, $3) } }

  /// The picture as JPEG, nearly without loss.
  func jpeg() throws -> [UInt8] { try written { cimages_write_jpeg(&$0, 98, &$1, &$2, $3) } }

  /// The picture, reduced by the library.
  func reduced(_ width: Int, _ height: Int) throws -> Picture {
    var picture = try copied()
    defer { cimages_free(picture.pixels) }
    try #require(cimages_reduce(&picture, UInt32(width), UInt32(height)))
    return Picture(picture)
  }
}

extension ScaledImage {
  static func make(of bytes: [UInt8], longestEdge: Int, quality: Int = 82) throws -> ScaledImage {
    try bytes.withUnsafeBytes { try make(of: $0, longestEdge: longestEdge, quality: quality) }
  }
}

/// Files of Tests/Fixtures, and parts of pictures.
enum PictureFixture {
  static func read(_ path: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try Array(Data(contentsOf: folder.appending(path: "Fixtures").appending(path: path)))
  }

  /// Each of 16 × 8 pixels: the left half of one colour, the right half of another.
  static let pngs = [
    "gray-1", "gray-8", "gray-16", "gray-alpha", "gray-transparent", "palette", "palette-transparent", "rgb",
    "rgb-16",
    "rgb-interlaced", "rgb-transparent", "rgba", "rgba-16", "rgba-interlaced",
  ]

  static func png(_ name: String) throws -> [UInt8] { try read("pictures/\(name).png") }

  /// A TIFF with an orientation only.
  static func exif(orientation: Int) -> [UInt8] {
    Array("II*\0".utf8) + [
      8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0,
    ]
  }

  /// A JPEG with another segment, after its marker.
  static func jpeg(_ jpeg: [UInt8], adding marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    let length = content.count + 2
    return jpeg[..<2] + [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content + jpeg[2...]
  }

  /// A PNG with another chunk, after its header.
  static func png(_ png: [UInt8], adding kind: String, _ content: [UInt8]) -> [UInt8] {
    png[..<33] + chunk(kind, content) + png[33...]
  }

  static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(kind.utf8) + content
    return number(UInt32(content.count)) + body + number(checksum(body))
  }

  static func number(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(value >> (24 - 8 * UInt32($0)) & 255) }
  }

  /// CRC-32.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }
  }
}
