"""Two models, or one in two places, layer by layer: where do they begin to differ, and why?"""
