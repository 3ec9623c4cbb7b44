import Foundation
import SatchelJSON
import SatchelTesting

@testable import SatchelPhotos

/// Helpers shared by the tests of the format.
enum FormatFixture {
  /// Any shard will do for most tests.
  static let shard = Shard.Index.all[0]

  /// A file of Tests/Fixtures.
  static func read(_ path: String) throws -> JSONValue {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let data = try Data(contentsOf: folder.appending(path: "Fixtures").appending(path: path))
    return try data.withUnsafeBytes { try JSONValue(parsing: $0) }
  }

  /// A shard's content, as values.
  struct Outcome: Equatable {
    var photos: [Photo] = []
    var rejected: [RejectedRow] = []
    var written: [UInt8] = []
    /// Whether the content reports itself as canonical.
    var isWritten = false

    var lines: [Int] { rejected.map(\.line) }
    var faults: [RowFault] { rejected.map(\.fault) }
    var text: String { String(decoding: written, as: UTF8.self) }
  }

  static func open(_ bytes: [UInt8], shard: Shard.Index = shard) throws -> Outcome {
    try bytes.withUnsafeBytes { file in
      try ShardContent.reading(file, shard: shard) { content, bytes in
        Outcome(
          photos: content.entries.compactMap { content.photo(of: $0, in: bytes) },
          rejected: content.rejected, written: content.written(from: bytes),
          isWritten: content.isWritten(in: bytes) && bytes.elementsEqual(file))
      }
    }
  }

  static func open(_ text: String, shard: Shard.Index = shard) throws -> Outcome {
    try open(Array(text.utf8), shard: shard)
  }

  static func line(_ photo: Photo) -> String {
    var bytes: [UInt8] = []
    ShardWriter.write(photo, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// An md5 of shard 0 that ends with a number.
  static func md5(_ number: Int) -> String {
    "0" + String(repeating: "a", count: 23) + String(format: "%08x", number)
  }

  /// Any photo of shard 0.
  static func photo(_ generator: inout SeededRandom) -> Photo {
    let high = generator.next() >> 4
    return Photo(
      md5: MD5(high: high, low: generator.next()), filename: generator.text(),
      size: generator.natural(), photodate: generator.integer(), modified: generator.integer(),
      width: generator.once(in: 3) ? nil : generator.natural(),
      height: generator.once(in: 3) ? nil : generator.natural(),
      applePhotoID: generator.once(in: 2) ? nil : generator.text())
  }
}

extension ShardContent {
  /// Whether the bytes are what `written` returns, as its entries have it.
  func isWritten(in bytes: UnsafeRawBufferPointer) -> Bool {
    // Lines at a distance of one byte are joined by a line feed: no other separator is one byte long.
    var end = -1
    var isWritten = true
    forEachLine(in: bytes) { line in
      switch line {
      case .kept(let range):
        isWritten = isWritten && range.lowerBound == end + 1
        end = range.upperBound
      case .photo(let entry):
        isWritten = isWritten && entry.isCanonical && entry.range.lowerBound == end + 1
        end = entry.range.upperBound
      }
    }
    if isWritten { return max(end, 0) == bytes.count }
    // Kept lines that contain line feeds may be parsed in other pieces than they were written.
    return !kept.isEmpty && written(from: bytes).elementsEqual(bytes)
  }
}
