/// Makes nodes of a schema: all that can be reached from its root, each place once.
final class JSONSchemaCompiler {
  private let references: JSONSchemaReferences
  private var nodes: [JSONSchemaNode] = []
  private var places: [JSONSchemaPlace] = []
  private var known: [JSONKey: Int] = [:]

  /// The nodes; the first is the root.
  static func compile(_ schema: JSONValue) throws -> [JSONSchemaNode] {
    guard schema.depth <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
    let compiler = JSONSchemaCompiler(references: try JSONSchemaReferences(schema))
    _ = compiler.node(compiler.references.document)
    // Places are found while others are read; a place that is met again is known by then.
    var next = 0
    while next < compiler.places.count {
      compiler.nodes[next] = try compiler.read(compiler.places[next])
      next += 1
    }
    try compiler.checkEnds()
    return compiler.nodes
  }

  private init(references: JSONSchemaReferences) { self.references = references }

  /// The node of a place, which is read later.
  func node(_ place: JSONSchemaPlace) -> Int {
    let key = JSONKey(text: JSONPath.pointer(place.path))
    if let index = known[key] { return index }
    known[key] = nodes.count
    nodes.append(JSONSchemaNode())
    places.append(place)
    return nodes.count - 1
  }

  /// The node that a "$ref" leads to.
  func node(of reference: String, from place: JSONSchemaPlace) throws -> Int {
    node(try references.place(of: reference, from: place))
  }

  private func read(_ place: JSONSchemaPlace) throws -> JSONSchemaNode {
    switch place.value {
    case .bool(let verdict): return JSONSchemaNode(verdict: verdict)
    case .object(let members):
      return JSONSchemaNode(
        rules: try JSONSchemaReading(place: place, members: members, compiler: self).rules())
    default:
      throw JSONError(
        "\(place.value.kind), where a schema is an object or a boolean", pointer: JSONPath.pointer(place.path)
      )
    }
  }

  /// Refuses schemas that come back to themselves with the same value.
  private func checkEnds() throws {
    enum Mark { case new, open, done }
    var marks = [Mark](repeating: .new, count: nodes.count)
    for start in nodes.indices where marks[start] == .new {
      var stack = [(index: start, rest: nodes[start].inPlace[...])]
      marks[start] = .open
      while var top = stack.popLast() {
        guard let next = top.rest.popFirst() else {
          marks[top.index] = .done
          continue
        }
        stack.append(top)
        switch marks[next] {
        case .done: break
        case .open:
          throw JSONError(
            "the schema refers to itself without an end", pointer: JSONPath.pointer(places[top.index].path))
        case .new:
          marks[next] = .open
          stack.append((next, nodes[next].inPlace[...]))
        }
      }
    }
  }
}
