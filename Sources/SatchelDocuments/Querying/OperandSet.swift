import SatchelJSON

/// The values of an `in` test: whether a field equals one of them is one look-up, however many there are.
struct OperandSet: Sendable {
  let operands: [Operand]
  /// Whether the keys of all operands identify them.
  let hasExactKeys: Bool
  /// The keys that identify an operand; empty when there are few operands.
  private let keys: Set<[UInt8]>
  /// The operands that share their key with other values, by that key.
  private let others: [[UInt8]: [Operand]]

  /// The number of operands up to which comparing costs less than a key.
  private static let few = 4

  init(_ values: [JSONValue]) {
    operands = values.map { Operand($0) }
    var (keys, others): (Set<[UInt8]>, [[UInt8]: [Operand]]) = ([], [:])
    for operand in operands {
      let key = operand.key
      if key.isExact { keys.insert(key.bytes) } else { others[key.bytes, default: []].append(operand) }
    }
    hasExactKeys = others.isEmpty
    (self.keys, self.others) = operands.count > Self.few ? (keys, others) : ([], [:])
  }

  func contains(_ field: FieldValue, in document: DocumentReader) -> Bool {
    guard operands.count > Self.few else { return operands.contains { $0.equals(field, in: document) } }
    var key: [UInt8] = []
    if ValueKey.append(field, to: &key) { return keys.contains(key) }
    return others[key]?.contains { $0.equals(field, in: document) } ?? false
  }
}
