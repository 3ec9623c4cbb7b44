import CCurl

/// A document that a store sent, read by expat. Document types are refused, so that no entity can be defined.
enum XMLText {
  private struct State {
    /// Names without prefixes, from the outermost element to the present one.
    var path: [String] = []
    /// What stands between the tags that were last seen.
    var text: [UInt8] = []
    let visit: (_ path: [String], _ text: String) -> Bool
  }

  /// Reads a document from its beginning to its end.
  ///
  /// - Parameter visit: gets each element when it ends: its way from the outermost one, and its text behind the last
  ///   element in it; false stops
  /// - Throws: `.foreign` for what is not XML, refused or stopped; `.io` when expat is not installed
  static func read(_ bytes: [UInt8], _ visit: (_ path: [String], _ text: String) -> Bool)
    throws(ObjectStoreError)
  {
    var message = [CChar](repeating: 0, count: 256)
    guard ccurl_xml_load(&message, message.count) else {
      throw ObjectStoreError(.failed(.io), String(message: message))
    }
    let outcome = withoutActuallyEscaping(visit) { visit in
      var state = State(visit: visit)
      return withUnsafeMutablePointer(to: &state) { state in
        var events = ccurl_xml_events()
        events.context = UnsafeMutableRawPointer(state)
        events.on_start = { context, name in
          guard let state = XMLText.state(context), let name else { return false }
          state.pointee.path.append(XMLText.local(name))
          state.pointee.text.removeAll(keepingCapacity: true)
          return true
        }
        events.on_text = { context, bytes, length in
          let bytes = UnsafeRawBufferPointer(start: bytes, count: length)
          XMLText.state(context)?.pointee.text.append(contentsOf: bytes)
          return true
        }
        events.on_end = { context, _ in
          guard let state = XMLText.state(context) else { return false }
          let text = String(decoding: state.pointee.text, as: UTF8.self)
          state.pointee.text.removeAll(keepingCapacity: true)
          defer { _ = state.pointee.path.popLast() }
          return state.pointee.visit(state.pointee.path, text)
        }
        return bytes.withUnsafeBufferPointer { ccurl_xml_read($0.baseAddress, $0.count, &events) }
      }
    }
    switch outcome {
    case CCURL_XML_DONE: return
    case CCURL_XML_NO_MEMORY:
      throw ObjectStoreError(.failed(.noMemory), "no memory to read the store's answer")
    default: throw ObjectStoreError(.failed(.foreign), "the store's answer is not the XML that S3 sends")
    }
  }

  private static func state(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<State>? {
    context?.assumingMemoryBound(to: State.self)
  }

  private static func local(_ name: UnsafePointer<CChar>) -> String {
    let name = String(cString: name)
    return name.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(name[name.utf8.index(after: $0)...]) }
      ?? name
  }
}
