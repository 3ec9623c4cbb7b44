import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

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
    found = found.ordered { $0.location.start < $1.location.start }
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

extension RecordWork {
  private var keyring: Keyring { store.database.keyring }

  /// Returns the key that seals a collection's documents, and notes it.
  ///
  /// - Parameter location: begins the message of the error
  /// - Throws: `.invalid` when it is not set
  func sealingKey(_ collection: CollectionState, _ location: @autoclosure () -> String) throws
    -> EncryptionKey
  {
    if let key = keyring.current, collection.numbers.sealedBy == key.name { return key }
    let key = try keyring.sealingKey(connection, at: { location() })
    try changing {
      try key.name.withUnsafeBytes {
        try connection.run(
          "UPDATE record_collection SET sealed_by = ? WHERE id = ?", .blob($0), .integer(collection.id))
      }
    }
    collection.numbers.sealedBy = key.name
    return key
  }

  /// Returns a document as it is stored; nil when it has no sensitive fields, and is stored as it is.
  func sealed(
    _ body: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, in collection: CollectionState
  ) throws -> [UInt8]? {
    let fields = try collection.rules.sensitive
    guard let path = fields.paths.first else { return nil }
    return fields.seal(body, key, by: try sealingKey(collection, fields.location(key, path)))
  }

  /// Returns the document of a record; nil when it does not exist.
  func document(_ row: Int64, _ key: UnsafeRawBufferPointer, in collection: CollectionState) throws
    -> [UInt8]?
  {
    guard let stored = try RecordTable(connection: connection).document(row) else { return nil }
    guard stored.isSealed else { return stored.body }
    return try stored.body.withUnsafeBytes {
      try collection.rules.opened($0, key, by: keyring.keys)
    }
  }

  /// The content of a record; nil when it does not exist.
  func content(_ row: Int64, _ key: UnsafeRawBufferPointer, in collection: CollectionState) throws
    -> SyncContent?
  {
    guard var found = try RecordTable(connection: connection).content(row) else { return nil }
    if found.isSealed { found.content.document = try document(row, key, in: collection) }
    return found.content
  }

  /// The storage of the versions of a conflict.
  func sealing(_ collection: CollectionState) throws -> RecordConflicts.Sealing {
    if try !collection.rules.isSensitive { return .plain }
    guard let key = try? sealingKey(collection, "") else { return .withheld }
    return .sealed(key)
  }
}

extension CollectionRules {
  /// Opens a document whose row is marked as sealed.
  ///
  /// - Throws: `.unauthorized` when the key is not set; `.damaged`
  func opened(
    _ document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, by keys: Keyring.Keys
  ) throws -> [UInt8] {
    guard isSensitive else {
      throw SatchelError(
        .invalid,
        "\(name)/\(String(decoding: key, as: UTF8.self)): has sensitive fields, and the declaration that "
          + "names them was lost; declare them again")
    }
    return try sensitive.open(document, key, by: keys)
  }

  /// - Throws: `.invalid` for a path of a query that sensitive fields are in
  func checkQueried(_ path: FieldPath) throws {
    guard let source = path.source, let sensitive = sensitive.overlapping(source) else { return }
    throw SatchelError(
      .invalid, "\(name): \"\(path.text)\": \"\(sensitive.text)\" is sensitive, and cannot be queried")
  }
}
