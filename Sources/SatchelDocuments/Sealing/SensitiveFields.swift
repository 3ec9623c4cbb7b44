import SatchelCore
import SatchelJSON
import SatchelStorage

/// The fields of a collection's documents that are stored encrypted. In the store each is a JSON string with the sealed
/// JSON text of the field. The declaration and the mark of the record's row determine these strings, because
/// a document may have any string anywhere.
struct SensitiveFields: Sendable {
  let paths: [DocumentPath]
  private let collection: String
  private let number: Int64

  /// - Parameter number: the id of the collection
  init(_ paths: [DocumentPath], of collection: String, _ number: Int64) {
    self.paths = paths
    self.collection = collection
    self.number = number
  }

  var isEmpty: Bool { paths.isEmpty }

  /// The sensitive path that a path leads to, into, or through.
  func overlapping(_ path: DocumentPath) -> DocumentPath? {
    paths.first { $0.keys.starts(with: path.keys) || path.keys.starts(with: $0.keys) }
  }

  /// Returns a document with its sensitive fields sealed; every other byte stays.
  ///
  /// - Parameter id: of the record; a sealed field cannot be opened in another one, or at another path
  func seal(
    _ document: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, by key: EncryptionKey
  ) -> [UInt8] {
    replace(document) { path, location in
      let text = Array(document[location.rawRange])
      return Self.string(SealedValue.seal(text, by: key, at: context(id, path)))
    }
  }

  /// Returns a document as it was before it was sealed.
  ///
  /// - Throws: `SatchelError` `.unauthorized` when a key is not set, `.damaged` for a field that was modified
  ///   since it was sealed
  func open(
    _ document: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, by keys: Keyring.Keys
  ) throws -> [UInt8] {
    let reader = DocumentReader(document)
    return try replace(document) { path, location in
      let name = self.location(id, path)
      guard location.kind == .string, let sealed = Base64.decoded(reader.slice(location)) else {
        throw SatchelError(.damaged, "\(name): is not sealed")
      }
      return try SealedValue.open(sealed, by: keys, at: name, sealedAt: context(id, path))
    }
  }

  /// The additional authenticated data. Without the name of the collection, which recovering a store may
  /// replace.
  private func context(_ id: UnsafeRawBufferPointer, _ path: DocumentPath) -> String {
    "record/\(number)/\(String(decoding: id, as: UTF8.self)): \(path.pointer)"
  }

  /// The location for messages.
  func location(_ id: UnsafeRawBufferPointer, _ path: DocumentPath) -> String {
    "\(collection)/\(String(decoding: id, as: UTF8.self)): \(path.pointer)"
  }

  static func string(_ sealed: [UInt8]) -> [UInt8] {
    var text = [UInt8(ascii: "\"")]
    text.reserveCapacity(sealed.count / 3 * 4 + 8)
    Base64.append(sealed, to: &text)
    text.append(UInt8(ascii: "\""))
    return text
  }

  private func replace(
    _ document: UnsafeRawBufferPointer, _ new: (DocumentPath, DocumentReader.Location) throws -> [UInt8]
  ) rethrows -> [UInt8] {
    let reader = DocumentReader(document)
    var found: [(path: DocumentPath, location: DocumentReader.Location)] = []
    for path in paths {
      if let location = reader.find(path) { found.append((path, location)) }
    }
    found.sort { $0.location.start < $1.location.start }
    var result: [UInt8] = []
    result.reserveCapacity(document.count + found.count * 96)
    var position = 0
    // The ranges overlap in damaged documents only.
    for (path, location) in found where location.rawRange.lowerBound >= position {
      result.append(contentsOf: document[position..<location.rawRange.lowerBound])
      result += try new(path, location)
      position = location.rawRange.upperBound
    }
    result.append(contentsOf: document[position...])
    return result
  }
}
